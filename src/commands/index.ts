// The table of commands. A command's code is loaded when it is called: `keys list` starts no engine.
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
    summary: 'send files to a service, and fetch what a Template makes of them',
    load: async () => (await import('./send.ts')).command,
  },
  {
    name: 'inspect',
    summary: 'tell how a file is read: type, encoding, delimiter, header, rows',
    load: async () => (await import('./inspect.ts')).command,
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
