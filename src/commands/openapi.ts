// `template-run openapi`: prints the OpenAPI document.
import { apiDocument } from '../routes/index.ts';
import { type Command, EXIT_OK, parseFlags, UsageError } from './command.ts';

export const command: Command = {
  name: 'openapi',
  usage: 'template-run openapi\n\nPrints the OpenAPI 3.1 document of the API.',
  run: async (args, io) => {
    const { positionals } = parseFlags(args, {});
    if (positionals.length > 0) throw new UsageError('This command takes no arguments.');
    io.stdout.write(`${JSON.stringify(apiDocument(), null, 2)}\n`);
    return EXIT_OK;
  },
};
