#!/usr/bin/env node
// The package's executable.
import { runCli } from './commands/run-cli.ts';

process.exitCode = await runCli(process.argv.slice(2), process);
