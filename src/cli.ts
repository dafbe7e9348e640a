#!/usr/bin/env node
// The package's executable.
import { Bundles } from '../workers/bundles.ts';

const { runProgram } = new Bundles().load('program') as typeof import('./runtime/program.ts');
await runProgram(process.argv.slice(2));
