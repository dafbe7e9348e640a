// Writes api-schemas.ts, the client's types, from the schemas of the OpenAPI document: `npm run build && node
// src/client/write-schemas.mjs`; with --print it only prints them. A test compares what it prints with what is there.
import { writeFileSync } from 'node:fs';
import { apiDocument } from '../../dist/src/routes/index.js';

const FILE = new URL('api-schemas.ts', import.meta.url);
const LINE_WIDTH = 120;

/** Names that would hide what the language itself calls so. */
const RENAMED = { Error: 'ErrorBody', QuotaError: 'QuotaErrorBody' };
/** Bodies of requests: the client makes the form itself. */
const LEFT_OUT = ['CreateRunForm'];

const HEAD = `// The bodies of the API's answers. Made by write-schemas.mjs from the OpenAPI document; change that one.\n`;

const nameOf = (name) => RENAMED[name] ?? name;

function typeOf(schema) {
  if (schema.$ref !== undefined) return nameOf(schema.$ref.split('/').at(-1));
  if ('const' in schema) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  if (schema.type === 'object') return objectType(schema);
  if (schema.type === 'array') return `readonly ${typeOf(schema.items)}[]`;
  const type = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' }[schema.type];
  if (type === undefined) throw new Error(`a schema that this script does not know: ${JSON.stringify(schema)}`);
  return type;
}

function literal(value) {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function objectType({ additionalProperties, properties, required }) {
  if (properties !== undefined) return block(fields(properties, required));
  const entry = `readonly [key: string]: ${typeOf(additionalProperties)}`;
  return entry.includes('\n') ? block(`${entry};\n`) : `{ ${entry} }`;
}

function block(lines) {
  return `{\n${lines.replaceAll(/^(?=.)/gm, '  ')}}`;
}

/** What is not required may be left out by the service. */
function fields(properties, required = []) {
  const lines = Object.entries(properties).map(([name, schema]) => {
    return `${commentOf(schema)}${declared(`readonly ${name}${required.includes(name) ? '' : '?'}:`, typeOf(schema))}`;
  });
  return lines.join('');
}

/** Of several lines, where the description has a list. */
function commentOf({ description }) {
  if (description === undefined) return '';
  if (!description.includes('\n')) return `/** ${description} */\n`;
  return `/**\n${description.replaceAll(/^/gm, ' * ').replaceAll(/ +$/gm, '')}\n */\n`;
}

/** As the formatter breaks long unions. */
function declared(head, type) {
  const line = `${head} ${type};`;
  if (line.length + 2 <= LINE_WIDTH || type.includes('\n')) return `${line}\n`;
  return `${head}\n${type
    .split(' | ')
    .map((part) => `  | ${part}`)
    .join('\n')};\n`;
}

function declaration(name, schema) {
  const comment = commentOf(schema);
  if (schema.allOf !== undefined) {
    const [base, more] = schema.allOf;
    return `${comment}export interface ${nameOf(name)} extends ${typeOf(base)} ${objectType(more)}\n`;
  }
  if (schema.properties === undefined) return `${comment}${declared(`export type ${nameOf(name)} =`, typeOf(schema))}`;
  return `${comment}export interface ${nameOf(name)} ${objectType(schema)}\n`;
}

const schemas = Object.entries(apiDocument().components.schemas).filter(([name]) => !LEFT_OUT.includes(name));
const text = [HEAD, ...schemas.map(([name, schema]) => declaration(name, schema))].join('\n');
if (process.argv.includes('--print')) process.stdout.write(text);
else writeFileSync(FILE, text);
