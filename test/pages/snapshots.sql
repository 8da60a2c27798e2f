SELECT snowdrift.create_generator('people', 'sno', partition => 4242, sequence_max => 32767);
