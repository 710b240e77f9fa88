"""A browser in which the person is signed in already: it follows the address to where it leads."""

import sys
import urllib.request

if __name__ == "__main__":
    urllib.request.urlopen(sys.argv[1], timeout=20).close()
