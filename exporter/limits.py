"""How much of what others send is read, kept or shown. A limit that only one module keeps stands in that module.

Each is well above the largest value seen on real networks.
"""

ANSWER_BYTES = 2**18
"""How large an answer may be, unpacked, if its collector names nothing else. Most have less than 10 kB."""
CONTRACT_BYTES = 2**20
"""How large an answer may be that holds a network's rules, or any one contract: those rules have about 60 kB."""
PAGE_BYTES = 8 * 2**20
"""How large a result page may be, a message of a websocket, or one list. A page of 1 000 contracts is about 2 MB."""
PAGE_VALUES = 250_000
"""How many values an answer may have, by its commas and brackets; a page of 1 000 contracts has about 100 000."""
ERROR_BYTES = 2**16
"""How much is read of an error or of an HTML page: what it says stands at its beginning."""
BODIES_BYTES = 64 * 2**20
"""How much the process holds of answers that are being read, unpacked and all together."""
HEALTH_BYTES = 2**16
"""How much is read of an answer to a health request: what it says stands at its beginning."""
HTML_BYTES = 1024
"""How far to look for the beginning of an HTML page, behind white space."""

ERROR_TEXT = 200
"""How many characters of a node's error text are passed on."""
NAME_LENGTH = 2100
"""How long a label's value may be: a template's is a package id and two names of up to 1 000 characters each."""
PARTY_LENGTH = 400
"""How long a party id may be; Canton's own limit is 255."""
TEMPLATES = 10_000
"""How many templates a count may tell apart: more than any network has."""
RUN_ITEMS = 50_000
"""How many samples and memos a run may yield: a node that makes up names must not fill our memory."""
RUN_SERIES = 10
"""How many times `max_series` a run may yield of samples: all are kept for the next run, shown or not."""
RUN_MEMOS = 100
"""How many memos a run may yield. Each collector has a few, and bounds what is in them."""

BACK_OFF_SECONDS = 600.0
"""How long a node's Retry-After can have us wait, or one that asks for a year would not be watched for a year."""
REQUESTS_SHOWN = 50
"""How many of a run's requests are kept for its log."""
