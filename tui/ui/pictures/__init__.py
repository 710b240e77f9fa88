"""Images of servers as pictures: decoded in a process of their own, painted as half blocks."""
