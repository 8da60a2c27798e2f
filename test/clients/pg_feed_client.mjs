// npm: pg@8
// docs/feeds.md: A consumer in JavaScript
