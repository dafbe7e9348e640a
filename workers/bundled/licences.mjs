// Lists the libraries contained in the bundles, with their licence texts. A plugin of rolldown.config.mjs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HEAD = `# Licences of what this package carries

The files of dist hold code of these libraries. Those that package.json names as dependencies bring their own.
`;

/** @param file path of the list; bundles that share the plugin share the list */
export function licences(file) {
  const folders = new Set();
  return {
    name: 'licences',
    generateBundle(_, files) {
      for (const { moduleIds = [] } of Object.values(files)) {
        for (const id of moduleIds) {
          const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0];
          if (folder !== undefined) folders.add(folder);
        }
      }
      writeFileSync(file, [HEAD, ...[...folders].map(entry).sort()].join('\n'));
    },
  };
}

/** Throws if a library does not state its licence. */
function entry(folder) {
  const { name, version, license, licenses } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const licence = license?.type ?? license ?? licenses?.map(({ type }) => type).join(' or ');
  if (typeof licence !== 'string') throw new Error(`${folder} names no licence`);
  const text = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
  const words = text === undefined ? 'It brings no text of it.' : readFileSync(join(folder, text), 'utf8').trim();
  return `## ${name} ${version}: ${licence}\n\n\`\`\`\n${words}\n\`\`\`\n`;
}
