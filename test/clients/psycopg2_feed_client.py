# requires: python3-psycopg2
# docs/feeds.md: A consumer in Python
