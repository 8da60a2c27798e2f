\ir in_one_transaction.sql
