// The table of commands. The code of a command is loaded when the command is called, so that `keys list` does not
// start an engine.
import type { CommandEntry } from './command.ts';

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'start the node',
    load: async () => (await import('./serve.ts')).command,
  },
  {
    name: 'run',
    summary: 'apply a Template file to local files, without a server',
    load: async () => (await import('./run.ts')).command,
  },
  {
    name: 'send',
    summary: 'send files to a service, and download the outputs',
    load: async () => (await import('./send.ts')).command,
  },
  {
    name: 'templates',
    summary: 'list the Templates of a service',
    load: async () => (await import('./service-queries.ts')).templates,
  },
  {
    name: 'usage',
    summary: 'show how much of its plan an account of a service has used',
    load: async () => (await import('./service-queries.ts')).usage,
  },
  {
    name: 'get',
    summary: 'show a Run of a service, and fetch its output',
    load: async () => (await import('./service-queries.ts')).get,
  },
  {
    name: 'wait',
    summary: 'wait for the end of a Run of a service, and fetch its output',
    load: async () => (await import('./service-queries.ts')).wait,
  },
  {
    name: 'inspect',
    summary: 'show how a file is read: type, encoding, delimiter, header, rows',
    load: async () => (await import('./inspect.ts')).command,
  },
  {
    name: 'head',
    summary: 'print the first rows of a file as a table',
    load: async () => (await import('./head.ts')).command,
  },
  {
    name: 'studio',
    summary: 'show in a browser what a Template does to a sample, while it is written',
    load: async () => (await import('./studio.ts')).command,
  },
  {
    name: 'keys',
    summary: 'issue, list and revoke API keys',
    load: async () => (await import('./keys.ts')).command,
  },
  {
    name: 'accounts',
    summary: 'add, list and change accounts, show their usage',
    load: async () => (await import('./accounts.ts')).command,
  },
  {
    name: 'catalog',
    summary: 'check a catalog folder',
    load: async () => (await import('./catalog.ts')).command,
  },
  {
    name: 'init',
    summary: 'write a demo catalog and print its API key',
    load: async () => (await import('./init.ts')).command,
  },
  {
    name: 'openapi',
    summary: 'print the OpenAPI document',
    load: async () => (await import('./openapi.ts')).command,
  },
  {
    name: 'template',
    summary: 'check, test and explain Templates, print their schema and reference',
    load: async () => (await import('./template.ts')).command,
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands and flags in a shell',
    load: async () => (await import('./completion.ts')).completionCommand(COMMANDS),
  },
];
