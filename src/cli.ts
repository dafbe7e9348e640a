#!/usr/bin/env node
// The command template-run.
process.stderr.write('template-run: no command yet\n');
process.exitCode = 2;
