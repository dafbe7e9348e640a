// What was probably meant by a word that is no command: an action of one, what other programs call it, or a slip of the keys.
import { suggestion } from '../../workers/template/suggestion.ts';
import { COMMANDS } from './index.ts';

/** Words of other programs, and what they are called here. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ...['apply', 'convert', 'exec', 'process', 'transform'].map((word) => [word, 'run'] as const),
  ...['start', 'server', 'daemon', 'up'].map((word) => [word, 'serve'] as const),
  ...['upload', 'post', 'submit'].map((word) => [word, 'send'] as const),
  ...['describe', 'detect', 'head', 'info', 'profile', 'sniff'].map((word) => [word, 'inspect'] as const),
  ...['validate', 'lint', 'verify'].map((word) => [word, 'template check'] as const),
  ...['suggest', 'infer', 'generate', 'new'].map((word) => [word, 'template draft'] as const),
  ...['ui', 'edit', 'gui', 'watch'].map((word) => [word, 'studio'] as const),
  ...['key', 'token', 'apikey'].map((word) => [word, 'keys issue'] as const),
  ['reference', 'template docs'],
]);

/** A sentence to append, or nothing. */
export async function commandHint(word: string): Promise<string> {
  const known = OTHER_NAMES.get(word.toLowerCase());
  const found = known === undefined ? await withAction(word) : [known];
  if (found.length > 0) return ` Write ${found.map((command) => `template-run ${command}`).join(' or ')}.`;
  return suggestion(
    word,
    COMMANDS.map(({ name }) => name),
  );
}

/** The commands that have such an action. */
async function withAction(word: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { name, load } of COMMANDS) {
    const { actions = {} } = await load();
    if (Object.hasOwn(actions, word)) found.push(`${name} ${word}`);
  }
  return found;
}
