#!/usr/bin/env node
process.stderr.write('template-run: no command yet\n');
process.exitCode = 2;
