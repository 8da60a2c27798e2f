while :; do
    psql -XAtq -v ON_ERROR_STOP=1 <<'END'
-- docs/feeds.md: A consumer in SQL
END
    sleep 0.02
done
