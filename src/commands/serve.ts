// `template-run serve`: starts a node with its settings, and prints where it listens.
import { readServeConfig, type ServeConfig, serveFlagsHelp } from '../config.ts';
import { serveNode } from '../main.ts';
import type { Listening } from '../server.ts';
import { openLog } from '../telemetry/log.ts';
import type { Command, CommandIo } from './command.ts';

// What `serve` prints on a terminal when it listens, instead of the log line `listening`.

const MILLISECONDS_PER_SECOND = 1000;

/** Three lines: the address with the size of the catalog, the pages, and how to stop the service. */
function startupLines(
  { url, accounts, templates }: Listening,
  { pages, drainMilliseconds }: Pick<ServeConfig, 'pages' | 'drainMilliseconds'>,
): string {
  const shown = [
    ...(pages.docs ? [`reference ${url}/docs`] : []),
    ...(pages.console ? [`console ${url}/console`] : []),
    ...(pages.docs || pages.console ? [] : [`start page ${url}/`]),
  ];
  const seconds = drainMilliseconds / MILLISECONDS_PER_SECOND;
  return [
    `template-run listens on ${url} (${counted(accounts, 'account')}, ${counted(templates, 'Template')})`,
    `Pages: ${shown.join(', ')}`,
    `Stop: press Ctrl+C. Uploads and Runs in progress get up to ${seconds} s to end.`,
    '',
  ].join('\n');
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

// `template-run serve`: starts a node with its settings. The node itself is in server.ts.

export const command: Command = {
  name: 'serve',
  usage: `template-run serve --catalog DIR --data DIR [FLAGS]

Serves the API until SIGTERM; reads the catalog again on SIGHUP and when it changes. Each flag is also an environment
variable: --memory-budget is TEMPLATE_RUN_MEMORY_BUDGET.

${serveFlagsHelp()}`,
  run: async (args, io) => {
    const config = readServeConfig(args, io.env);
    const settings = { config, log: openLog(config.logLevel) };
    if (!isTerminal(io.stdout)) return serveNode(settings, io);
    return serveNode({ ...settings, onListening: (listening) => io.stdout.write(startupLines(listening, config)) }, io);
  },
};

function isTerminal(stream: CommandIo['stdout'] & { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true;
}
