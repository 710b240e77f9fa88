"""Words for the errors of libraries and of the system, by the beginnings of their messages."""

from collections.abc import Iterator

JSON_REASONS = {
    "a value is missing": "Expecting value",
    "a name in double quotes is missing": "Expecting property name",
    "a colon is missing": "Expecting ':' delimiter",
    "a comma is missing": "Expecting ',' delimiter",
    "a comma too many": "Illegal trailing comma",
    "text after the end of the value": "Extra data",
    "a string is not closed": "Unterminated string",
    "a control character in a string": "Invalid control character",
    "an invalid escape sequence in a string": "Invalid \\",
    "a byte order mark at the start": "Unexpected UTF-8 BOM",
}
TOML_REASONS = {
    "= is missing after a key": "Expected '=' after a key",
    "] is missing after the name of a table": "Expected ']' at the end of a table",
    "]] is missing after the name of a table": "Expected ']]' at the end of an array",
    "text after a value": "Expected newline or end of document",
    "a key is missing": "Invalid initial character for a key|Invalid statement",
    "invalid value": "Invalid value|TOML parser",
    "invalid date": "Invalid date",
    "a list is not closed": "Unclosed array",
    "an inline table is not closed": "Unclosed inline table",
    "a key appears twice": "Duplicate inline table key|Cannot overwrite a value|Cannot define",
    "a table appears twice": "Cannot declare|Cannot redefine namespace",
    "a table is extended that was complete": "Cannot mutate immutable",
    "a string is not closed": "Unterminated string|Expected \"'\"|Expected '\"'|Illegal character '\\n'",
    "a control character": "Illegal character|Found invalid character",
    "an invalid escape sequence in a string": "Unescaped '\\'|Invalid hex value|Escaped character is not",
}
HTTP_REASONS = {
    "the connection was closed before the response": "Server disconnected",
    "the connection was closed in the middle of the response": "peer closed|peer unexpectedly closed",
    "the headers of the response are too long": "Receive buffer too long",
    "the message is shorter than announced": "Too little data for declared",
    "the message is longer than announced": "Too much data for declared",
    "a header line of the response is not valid HTTP": "illegal header line",
    "the first line of the response is not valid HTTP": "illegal status line",
    "the response is not valid HTTP": "illegal |Malformed |malformed data",
    "a header is invalid": "Illegal header",
    "the request is not valid HTTP": "Illegal ",
    "the Content-Length of the response is invalid": "bad Content-Length|conflicting Content-Length",
    "the response has an unsupported Transfer-Encoding": "Sorry, Transfer|multiple Transfer",
    "the HTTP version of the response is unsupported": "unsupported HTTP version",
    "the compressed data is damaged": "Error |DecodingError",
    "too many redirects": "Exceeded maximum allowed redirects|TooManyRedirects",
    "the URL must start with http:// or https://": (
        "Request URL is missing|Request URL has an unsupported|UnsupportedProtocol"
    ),
    "the port in the URL is invalid": "Invalid port",
    "the URL is invalid": "Invalid URL|InvalidURL",
    "the URL contains a control character": "Invalid non-printable",
    "the host name is invalid": "Invalid IDNA",
    "the IP address is invalid": "Invalid IPv",
    "no connection could be opened": "All connection attempts failed",
    "the connection failed": "Connection error",
    "no response in time": "Request timed out|Timed out while waiting|ReadTimeout",
    "the connection was closed": "Connection closed",
    "the other side violates the protocol": "RemoteProtocolError",
    "the request violates the protocol": "LocalProtocolError",
    "the request could not be sent in time": "WriteTimeout",
    "no connection in time": "ConnectTimeout|PoolTimeout",
}
"""Beginnings of the messages, or else the class names, of the HTTP libraries' errors."""

SQLITE_REASONS = {
    "the file is damaged": "database disk image is malformed|malformed database schema",
    "it is not a SQLite file": "file is not a database|file is encrypted",
    "another program uses the file": "database is locked|database table is locked",
    "the disk is full": "database or disk is full",
    "reading or writing the file failed": "disk I/O error",
    "the file is read-only": "attempt to write a readonly",
    "the file cannot be opened": "unable to open database",
    "a table is missing": "no such table",
    "a column is missing": "no such column",
    "it was interrupted": "interrupted",
    "a value is too large": "string or blob too big",
    "the file has an unsupported format": "unsupported file format",
}
PLAIN_REASONS = {
    "a number has too many digits": "Exceeds the limit",
    "a quote is not closed": "No closing quotation",
    "a backslash at the end": "No escaped character",
    "it contains a null character": "embedded null|source code string cannot contain null",
    "the compressed data is damaged": "Error -",
    "it is not valid Base64": "Incorrect padding|Invalid base64|Non-base64",
    "a number is not finite": "Out of range float",
    "it contains itself": "Circular reference",
    "a value has no form in JSON": "Object of type",
    "the port is not a number": "Port could not be cast",
    "the port is out of range": "Port out of range",
    "the IPv6 address is invalid": "Invalid IPv6 URL",
    "it is nested too deeply": "Nesting",
    "it ended early": "Compressed file ended",
    "its compression is not supported": "That compression method",
    "the zip file is damaged": "File name in directory",
}
ZIP_REASONS = {"it is not a zip file": "File is not a zip file", "its checksum is wrong": "Bad CRC"}
PATTERN_REASONS = {
    "a parenthesis is not closed": "missing )",
    "a comment is not closed": "missing ), unterminated comment",
    "a parenthesis is closed that was not opened": "unbalanced parenthesis|unexpected )",
    "a bracket is not closed": "unterminated character set|missing ]",
    "a range in brackets is invalid": "bad character range",
    "a repetition follows another": "multiple repeat|bad repetition operator",
    "nothing to repeat before *, +, ? or {}": "nothing to repeat|no argument for repetition",
    "a repetition's minimum exceeds its maximum": "min repeat greater",
    "a repetition is too large": "invalid repetition size|more than",
    "a backslash at the end": "bad escape (end|trailing \\",
    "an escape sequence is incomplete": "incomplete escape",
    "an escape sequence is invalid": "bad escape|invalid escape|octal escape",
    "a character name is unknown": "undefined character name",
    "a character name is incomplete": "missing {|missing }|missing character name",
    "a group's name is missing": "missing group name|missing <",
    "a group's name is not closed": "missing >",
    "a group's name is invalid": "bad character in group name",
    "two groups have the same name": "redefinition of group name",
    "there is no group of this name": "unknown group name",
    "there is no group of this number": "invalid group reference",
    "a group refers to itself": "cannot refer to",
    "unknown syntax after (?": "unknown extension",
    "it ends too early": "unexpected end of pattern",
    "flags such as (?i) must be at the start": "global flags not at the start",
    "a flag is unknown": "unknown flag",
    "a flag is missing": "missing flag",
    "flags are not closed": "missing -, : or )|missing :",
    "invalid flags": "bad inline flags",
    "look-around is not supported": "look-behind requires|look-around",
    "a backreference is not supported": "a backreference",
    "a conditional group is not supported": "a conditional group",
    "an atomic group is not supported": "an atomic group",
    "a possessive repetition is not supported": "a possessive repetition",
    "the pattern is too large": "pattern too large",
}
"""The words of Python's `re` and of RE2."""


UNRESOLVED = "the host name cannot be resolved"
ADDRESS_REASONS = {-3: "the host name cannot be resolved at present", -5: "the host name has no address"}
TLS_REASONS = {
    "the certificate cannot be verified": "CERTIFICATE_VERIFY_FAILED",
    "the other side does not use TLS": "WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE",
    "the connection was closed during the TLS handshake": "UNEXPECTED_EOF_WHILE_READING",
    "no common TLS version": "UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE|TLSV1_ALERT_PROTOCOL_VERSION",
    "the TLS handshake was rejected": "SSLV3_ALERT_HANDSHAKE_FAILURE",
    "the server has no certificate for this host": "TLSV1_UNRECOGNIZED_NAME",
    "the server requires a client certificate": "TLSV13_ALERT_CERTIFICATE_REQUIRED",
}
TYPE_REASONS = {
    "is missing": "missing",
    "must be a string": "string_type",
    "must be an integer": "int_type|int_parsing|int_from_float",
    "must be a number": "float_type|float_parsing",
    "must be true or false": "bool_type|bool_parsing",
    "must be a list": "list_type",
    "must be an object": "dict_type|model_type|model_attributes_type",
    "must be null": "none_required",
    "must be a URL": "url_parsing|url_type",
    "must be an http or https URL": "url_scheme",
    "is not allowed": "extra_forbidden",
    "has an unknown type": "union_tag_invalid",
    "has no type": "union_tag_not_found",
}

SCHEMA_SENTENCES = (
    *("{value} is not of type {type}", "{value} was expected", "{value} is not one of {values}"),
    *("{value} is a required property", "{value} does not match {pattern}"),
    *("{value} is greater than the maximum of {limit}", "{value} is less than the minimum of {limit}"),
    "{value} is greater than or equal to the maximum of {limit}",
    "{value} is less than or equal to the minimum of {limit}",
    *("{value} is too long", "{value} is too short", "{value} should be non-empty"),
    *("{value} is expected to be empty", "{value} is not a multiple of {number}"),
    *("{value} has non-unique elements", "{value} does not have enough properties"),
    *("{value} has too many properties", "{value} is not valid under any of the given schemas"),
    "Additional properties are not allowed ({names} was unexpected)",
    "Additional properties are not allowed ({names} were unexpected)",
)
"""The sentences of jsonschema about values."""

SYSTEM_REASONS = (
    *("Address already in use", "Address family not supported by protocol", "Argument list too long"),
    *("Bad file descriptor", "Broken pipe", "Cannot allocate memory", "Connection refused"),
    *("Connection reset by peer", "Connection timed out", "Device or resource busy", "Directory not empty"),
    *("Disk quota exceeded", "Exec format error", "File exists", "File name too long", "File too large"),
    *("Input/output error", "Invalid argument", "Invalid cross-device link", "Is a directory"),
    *("Network is unreachable", "No route to host", "No space left on device", "No such device"),
    *("No such file or directory", "No such process", "Not a directory", "Operation not permitted"),
    *("Operation not supported", "Permission denied", "Read-only file system", "Text file busy"),
    *("Too many levels of symbolic links", "Too many open files"),
)
"""Frequent errors in the words of the system (GNU), which are shown in the user's language."""


def all_reasons() -> Iterator[str]:
    """Yield the texts of the tables, which are translated without marks."""
    yield from (*SCHEMA_SENTENCES, *SYSTEM_REASONS, UNRESOLVED, *ADDRESS_REASONS.values())
    for table in (JSON_REASONS, TOML_REASONS, HTTP_REASONS, SQLITE_REASONS, PLAIN_REASONS, ZIP_REASONS):
        yield from table
    for table in (PATTERN_REASONS, TLS_REASONS, TYPE_REASONS):
        yield from table
