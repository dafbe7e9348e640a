// The operation `hash`: replaces values by keyed digests, so that equal values stay equal and cannot be found without
// the key.
import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { digestEdits } from '../execution/cells/digest-edit.ts';
import { convertEdit, textOfValue } from '../execution/cells/value-cells.ts';
import { Failed } from '../protocol/failure.ts';
import { COLUMN_TYPES, columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';

/** Name of a secret in the catalog. Excludes everything that could lead to another folder. */
const SECRET_NAME = /^[A-Za-z0-9_-]{1,64}$/;

export const hash = defineOperation({
  name: 'hash',
  purpose: 'replaces values by a keyed digest (HMAC-SHA-256); `key` is the name of a secret in the catalog',
  summary:
    'Replaces values by digests: equal texts have equal digests. Without the key, the value cannot be found by trying. Values are hashed in the form in which an output contains them.',
  knownAs: [
    {
      names: 'sha256 sha sha1 md5 pseudonymize pseudonymise encrypt hmac anonymize anonymise',
      form: 'columns: ..., key: ...',
    },
  ],
  parameters: Type.Object({
    columns: columnSet,
    method: Type.Optional(
      Type.Enum(['hmac_sha256', 'sha256_unkeyed'], {
        default: 'hmac_sha256',
        description: '`sha256_unkeyed` needs no key, but anyone who can guess a value can check the guess.',
      }),
    ),
    key: Type.Optional(
      Type.String({ minLength: 1, description: 'Name of a secret of the account, never the secret itself.' }),
    ),
    encoding: Type.Optional(
      Type.Enum(['hex', 'base64', 'base64url'], { default: 'hex', description: 'Encoding of the digest.' }),
    ),
    length: Type.Optional(
      Type.Integer({
        minimum: 8,
        maximum: 64,
        description:
          'Number of characters to keep from the start; the fewer, the more likely two values have the same digest.',
      }),
    ),
    into: intoParameter,
  }),
  cells: true,
  memory: 'R',
  secrets: ({ key }) => (key === undefined ? [] : [{ name: key, pointer: '/key' }]),
  examples: [
    {
      title: 'With the secret "demo", which is `pepper`',
      operation: { op: 'hash', columns: ['mail'], key: 'demo', length: 16 },
      input: { columns: ['mail'], rows: [['ada@example.org'], [null]] },
      output: { columns: ['mail'], rows: [['eddcbc0c0fa8cbf6'], [null]] },
    },
    {
      title: 'Without a key',
      operation: { op: 'hash', columns: 'id', method: 'sha256_unkeyed', encoding: 'base64url', into: 'digest' },
      input: { columns: ['id'], types: ['integer'], rows: [['42']] },
      output: { columns: ['id', 'digest'], rows: [['42', 'c0dctApWjo2ooEXO0RATfhWfiQrE2og7axfcZRs6gEk']] },
    },
  ],
  effect({ columns, method = 'hmac_sha256', key = null, encoding = 'hex', length, into }, scope) {
    if (method === 'hmac_sha256' && key === null) {
      const message = 'hmac_sha256 needs a key. Write key: <name of a secret of the account>.';
      scope.problem('', 'MISSING_PARAMETER', message);
    }
    if (method === 'sha256_unkeyed' && key !== null) {
      scope.problem('/key', 'UNUSED_PARAMETER', 'sha256_unkeyed takes no key. Leave method out to use it.');
    }
    if (key !== null && !SECRET_NAME.test(key)) {
      scope.problem('/key', 'BAD_VALUE', 'Write the name of a secret: letters, digits, "_" and "-", at most 64.');
    }
    const targets = cellTargets(scope, { columns, into, takes: COLUMN_TYPES, makes: 'text' });
    return { targets, key, encoding, length };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, key, encoding, length }, context) {
    const secret = key === null ? null : readSecret(context.secretsDirectory, key);
    const digest = (value: unknown): string => {
      const hasher = secret === null ? createHash('sha256') : createHmac('sha256', secret);
      return hasher.update(textOfValue(value), 'utf8').digest(encoding).slice(0, length);
    };
    const digestOf = digestEdits(context, { key: secret, encoding, length });
    const edits = targets.map((target) => digestOf(convertEdit(context, target, digest)));
    return startCellOperator(context, targets, edits);
  },
});

/** Returns the bytes of a secret without the line break at its end. */
function readSecret(directory: string | null, name: string): Buffer {
  if (!SECRET_NAME.test(name)) throw new Error('the name of a secret was not checked');
  let bytes: Buffer | null = null;
  try {
    bytes = directory === null ? null : readFileSync(join(directory, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  if (bytes === null) throw new Failed('TEMPLATE_CHECK_FAILED', `The account has no secret ${JSON.stringify(name)}.`);
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1] === 10 || bytes[end - 1] === 13)) end--;
  if (end === 0) throw new Failed('TEMPLATE_CHECK_FAILED', `The secret ${JSON.stringify(name)} is empty.`);
  return bytes.subarray(0, end);
}
