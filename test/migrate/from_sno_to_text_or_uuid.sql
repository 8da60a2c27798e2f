CREATE EXTENSION snowdrift;
CREATE TABLE devices (id sno PRIMARY KEY DEFAULT next_sno(), note text);
CREATE TABLE sensors (id sno PRIMARY KEY DEFAULT next_sno(), note text);
INSERT INTO devices (note) SELECT 'old' FROM generate_series(1, 1000);
INSERT INTO sensors SELECT * FROM devices;
CREATE TABLE before AS SELECT id::text FROM devices;
