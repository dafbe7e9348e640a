// `template-run serve`: starts the node with its settings. What a node is, is in server.ts.
import { readServeConfig, serveFlagsHelp } from '../config.ts';
import { serveNode } from '../main.ts';
import { openLog } from '../telemetry/log.ts';
import type { Command } from './command.ts';

export const command: Command = {
  name: 'serve',
  usage: `template-run serve --catalog DIR --data DIR [FLAGS]

Serves the API until SIGTERM; reads the catalog again on SIGHUP and when it changes. Each flag is also an environment
variable: --memory-budget is TEMPLATE_RUN_MEMORY_BUDGET.

${serveFlagsHelp()}`,
  run: async (args, io) => {
    const config = readServeConfig(args, io.env);
    return serveNode({ config, log: openLog(config.logLevel) }, io);
  },
};
