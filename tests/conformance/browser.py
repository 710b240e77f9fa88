"""A browser in which the user is already signed in: it follows redirects to the end."""

import sys
import urllib.request

if __name__ == "__main__":
    urllib.request.urlopen(sys.argv[1], timeout=20).close()
