// Each documented example of each operation passes through the form of its operation and into a Template's text, in any
// notation, and has the same meaning there. Edits by a form keep comments and everything else of the text.
import { isDeepStrictEqual } from 'node:util';
import { test } from 'tap';
import { operationForm } from '../../../../src/studio/language.ts';
import {
  columnChoice,
  columnSet,
  completed,
  fits,
  inputText,
  missingProperties,
  numberOf,
  shownProperties,
  startOf,
  variantOf,
  withProperty,
} from '../../../../src/studio/page/form-model.ts';
import { flowText, withOperation, withParameters } from '../../../../src/studio/page/operation-edits.ts';
import type { FormField, FormProperty } from '../../../../src/studio/studio-answers.ts';
import { readOperation, readValue } from '../../../../src/studio/studio-session.ts';
import { operationTable } from '../../../../workers/operations/index.ts';
import { checkTemplate } from '../../../../workers/plan/template-cache.ts';
import type { OperationExample } from '../../../../workers/template/operation.ts';
import { parseTemplate } from '../../../../workers/template/template-text.ts';

/** The parameters of an operation of a text, as plain objects. */
function parametersOf(text: string, format: 'json' | 'yaml', index: number): Parameters {
  return JSON.parse(JSON.stringify(readOperation(text, format, index).parameters));
}

type Parameters = Readonly<Record<string, unknown>>;

/** Parameters with a value that only YAML text can show. */
const YAML_PARAMETERS = ['check_totals.checks.between'];

/** All examples, with the schema of their tables. */
const EXAMPLES = [...operationTable.values()].flatMap((definition) =>
  definition.examples.map(({ operation: { op: _, ...parameters }, input, tables = {}, title }) => ({
    name: definition.name,
    title: `${definition.name}: ${title}`,
    form: operationForm(definition),
    parameters,
    input,
    tables: Object.keys(tables),
  })),
);

function valueOfYaml(text: string): unknown {
  const read = readValue(text);
  if ('mistake' in read) throw new Error(read.mistake);
  return read.value;
}

/** Fills an empty field as a user does: the kind is chosen, entries are added, and texts are typed. */
function filled(field: FormField, value: unknown, path: string): unknown {
  switch (field.kind) {
    case 'number': {
      const number = numberOf(inputText(value), field.isInteger);
      if (number === null) throw new Error(`${path}: ${String(value)} cannot be typed`);
      return number;
    }
    case 'columns':
      return columnSet(columnChoice(value)!, Array.isArray(value));
    case 'choice':
      return field.options.find((option) => option === value);
    case 'constant':
      return startOf(field);
    case 'list':
      return (value as unknown[]).map((item) => filled(field.item, item, path));
    case 'map':
      return Object.fromEntries(
        Object.entries(value as Parameters).map(([key, part]) => [key, filled(field.value, part, path)]),
      );
    case 'object':
      return filledProperties(field.properties, value as Parameters, path);
    case 'variants': {
      const variant = field.variants[variantOf(field.variants, value)];
      if (variant === undefined) throw new Error(`${path}: no kind for ${JSON.stringify(value)}`);
      return filled(variant.field, value, path);
    }
    case 'yaml':
      if (!YAML_PARAMETERS.includes(path)) throw new Error(`${path} is a field for YAML`);
      return valueOfYaml(JSON.stringify(value));
    case 'boolean':
      return inputText(value) === 'true';
    default:
      return inputText(value);
  }
}

function filledProperties(properties: readonly FormProperty[], values: Parameters, path: string): Parameters {
  let result: Parameters = {};
  for (const [name, value] of Object.entries(values)) {
    const property = properties.find((each) => each.name === name);
    if (property === undefined) throw new Error(`${path} has no field ${name}`);
    if (!fits(property.field, value)) throw new Error(`${path}.${name} does not show ${JSON.stringify(value)}`);
    result = withProperty(result, name, filled(property.field, value, `${path}.${name}`));
  }
  return result;
}

/** Documents with a place for an operation: index 1 of their list. */
const DOCUMENTS = {
  'flow style':
    'format: 1\noperations:\n  # One.\n  - {drop_blank_rows: {}}  # why\n  # - {drop: {columns: x}}\n  - {drop_repeated_headers: {}}\noutput: {format: csv}\n',
  'flow style with op': 'format: 1\noperations:\n- {op: drop_blank_rows}\n- {op: drop_repeated_headers}',
  'block style':
    'format: 1\noperations:\n  - drop_blank_rows:\n  - drop_repeated_headers: {}\n\n# End.\noutput: {format: csv}\n',
  'block style with op':
    'format: 1\noperations:\n  - op: drop_blank_rows\n    # Why.\n    note: x\n  - op: drop_repeated_headers\n',
  brackets: 'format: 1\noperations: [{drop_blank_rows: {}}, {drop_repeated_headers: {}}]\n',
  'an empty list': 'format: 1\noperations: []\noutput: {format: csv}\n',
  'no list': 'format: 1\noutput: {format: csv}\n',
  JSON: '{\n  "format": 1,\n  "operations": [\n    {"drop_blank_rows": {}},\n    {"op": "drop_repeated_headers"}\n  ]\n}\n',
} as const;

test('each documented example can be filled into the form of its operation', async (t) => {
  t.ok(EXAMPLES.length > 100, 'there are examples');
  const shown = new Set(EXAMPLES.map(({ name }) => name));
  t.strictSame([...operationTable.keys()].sort(), [...shown].sort(), 'each operation has an example');
  for (const { title, name, form, parameters } of EXAMPLES) {
    const result = filledProperties([...form.properties, ...form.further], parameters, name);
    t.strictSame(result, parameters, title);
    t.strictSame(missingProperties(form, result), [], `${title}: nothing is missing`);
    const shown = [...shownProperties(form, result), ...form.further].map((property) => property.name);
    t.strictSame(
      Object.keys(result).filter((key) => !shown.includes(key)),
      [],
      `${title}: all is shown`,
    );
  }
});

for (const [style, document] of Object.entries(DOCUMENTS)) {
  const format = style === 'JSON' ? 'json' : 'yaml';
  test(`what a form writes into a Template with ${style} is accepted and means the same`, async (t) => {
    for (const { title, name, parameters, input, tables } of EXAMPLES) {
      const index = /empty|no list/.test(style) ? 0 : 1;
      const text = withOperation(document, format, index, name, parameters);
      if (text === null) return t.fail(`${title} cannot be written`);
      const read = readOperation(text, format, index);
      const isSame = JSON.stringify(read.parameters) === JSON.stringify(parameters);
      if (read.name !== name || !isSame) t.strictSame(read, { name, parameters }, `${title}\n${text}`);
      const lost = document.split('\n').filter((line) => line.includes('#') && !text.includes(line));
      if (lost.length > 0) t.fail(`${title}: lost ${lost.join(', ')}`);
      const checked = checkTemplate(withSurroundings(text, format, index, input, tables), 'json');
      if ('problems' in checked) t.fail(`${title}: ${checked.problems[0]!.message}\n${text}`);
    }
  });
}

/** The Template with the tables of an example, and with its types of columns before the operation. */
function withSurroundings(
  text: string,
  format: 'json' | 'yaml',
  index: number,
  { columns, types }: OperationExample['input'],
  tables: readonly string[],
): string {
  const parsed = parseTemplate(text, format);
  if ('problems' in parsed) throw new Error(text);
  const template = parsed.text.root.value as { readonly operations: readonly object[] };
  const typed = columns.flatMap((name, at) => ((types?.[at] ?? 'text') === 'text' ? [] : [[name, types![at]]]));
  // Some operations must be the last one.
  const operations: object[] = template.operations.slice(0, index + 1);
  if (typed.length > 0) operations.splice(index, 0, { cast: { columns: Object.fromEntries(typed) } });
  const declared = Object.fromEntries(tables.map((name) => [name, { ref: name }]));
  return JSON.stringify({ ...template, operations, ...(tables.length > 0 ? { tables: declared } : {}) });
}

/** Texts that YAML could read as something else, or that a form could cut. */
const ODD_TEXTS = [
  ...['yes', 'no', 'null', '~', 'true', 'N', '1e5', '0x1F', '012', '1_000', '.5', '+1', '.inf', '.NaN', '2024-01-01'],
  ...[
    '-',
    '- x',
    '?',
    '? x',
    ':',
    ': x',
    'x:',
    'a: b',
    '#',
    '# c',
    'a # b',
    ',',
    'a, b',
    '{a}',
    '[a]',
    '{{x}}',
    '<<',
    '=',
  ],
  ...[
    '@x',
    '`x`',
    '%x',
    '!t',
    '&a',
    '*a',
    '|',
    '>',
    '---',
    '...',
    ' lead',
    'trail ',
    '',
    '"',
    '"q"',
    "'",
    "it's",
    "''",
  ],
  ...['\\', '\\n', 'a\\b', '\t', 'a\tb', 'a\nb', 'a\r\nb', '\u0007', '\u007f', '\u0085', '\u00a0', '\u200b', '\u2028'],
  ...['\ufeff', '\ud800', '😀', '^\\d+$', 'x '.repeat(80)],
];

/** A value of a field with the odd text in each of its texts and keys. */
function odd(field: FormField, text: string): unknown {
  switch (field.kind) {
    case 'text':
    case 'column':
      return text;
    case 'columns':
      return [text, `${text}2`];
    case 'list':
      return [odd(field.item, text)];
    case 'map':
      return { [text]: odd(field.value, text) };
    case 'object':
      return Object.fromEntries(field.properties.map(({ name, field: part }) => [name, odd(part, text)]));
    case 'variants':
      return odd(field.variants[text.length % field.variants.length]!.field, text);
    case 'yaml':
      return { [text]: [text, { x: text }] };
    default:
      return startOf(field);
  }
}

test('any text that is typed into any field has the same meaning in the Template', async (t) => {
  const documents = Object.entries(DOCUMENTS);
  let [fields, properties] = [0, 0];
  for (const definition of operationTable.values()) {
    const form = operationForm(definition);
    for (const property of [...form.properties, ...form.further]) {
      properties++;
      // Each text is in every third field.
      for (const text of ODD_TEXTS.filter((_, index) => (index + properties) % 3 === 0)) {
        const [style, document] = documents[fields++ % documents.length]!;
        const format = style === 'JSON' ? 'json' : 'yaml';
        const index = /empty|no list/.test(style) ? 0 : 1;
        const values = { [property.name]: odd(property.field, text) };
        const written = withOperation(document, format, index, definition.name, values);
        const note = { ...values, note: text };
        const edited = written === null ? null : withParameters(written, format, index, values, note);
        if (written === null || edited === null) return t.fail(`${definition.name}.${property.name}: ${text}`);
        for (const [each, wanted] of [
          [written, values],
          [edited, note],
        ] as const)
          if (JSON.stringify(parametersOf(each, format, index)) !== JSON.stringify(wanted))
            t.fail(`${definition.name}.${property.name}, ${style}: ${JSON.stringify(text)}\n${each}`);
      }
    }
  }
  t.ok(fields > 5_000, `${fields} texts in fields`);
});

test('an edit that is taken back leaves the text as it was', async (t) => {
  for (const [style, document] of Object.entries(DOCUMENTS)) {
    const format = style === 'JSON' ? 'json' : 'yaml';
    for (const { title, name, parameters } of EXAMPLES) {
      const index = /empty|no list/.test(style) ? 0 : 1;
      const text = withOperation(document, format, index, name, parameters)!;
      if (withParameters(text, format, index, parameters, parameters) !== text) t.fail(`${title}: changed`);
      const changed = { ...parameters, note: 'a "note": x' };
      const edited = withParameters(text, format, index, parameters, changed);
      if (edited === null) return t.fail(`${title} cannot be edited`);
      const isSame = isDeepStrictEqual(parametersOf(edited, format, index), changed);
      const back = withParameters(edited, format, index, changed, parameters);
      if (!isSame || back !== text) t.fail(`${title}, ${style}\n${edited}\n${back}`);
    }
  }
});

test('each example becomes any other example of its operation by an edit', async (t) => {
  let edits = 0;
  for (const [style, document] of Object.entries(DOCUMENTS)) {
    const format = style === 'JSON' ? 'json' : 'yaml';
    const index = /empty|no list/.test(style) ? 0 : 1;
    for (const { name, parameters, title } of EXAMPLES) {
      const text = withOperation(document, format, index, name, parameters)!;
      for (const other of EXAMPLES.filter((each) => each.name === name)) {
        const edited = withParameters(text, format, index, parameters, other.parameters);
        if (edited === null) return t.fail(`${title}: cannot become ${other.title}`);
        if (isDeepStrictEqual(parametersOf(edited, format, index), other.parameters)) edits++;
        else t.fail(`${title} to ${other.title}, ${style}\n${edited}`);
      }
    }
  }
  t.ok(edits > 1_000, `${edits} edits`);
});

test('an edit changes only the parameter that changed', async (t) => {
  const text = `operations:
  - validate:
      # All rules of the bank.
      rules:
        - {column: iban, check: iban}  # as they write it
        - column: amount
          check: min
          # Not negative.
          value: 0
      note: >-
        folded
        text
  - drop_blank_rows:
`;
  const { parameters } = readOperation(text, 'yaml', 0);
  const rules = parameters['rules'] as readonly object[];
  const changed = { ...parameters, rules: [rules[0], { ...rules[1], value: 1 }] };
  t.equal(withParameters(text, 'yaml', 0, parameters, changed), text.replace('value: 0', 'value: 1'));
  const longer = { ...parameters, rules: [...rules, { column: 'x', check: 'required' }] };
  t.equal(
    withParameters(text, 'yaml', 0, parameters, longer),
    text.replace('value: 0\n', 'value: 0\n        - {column: x, check: required}\n'),
  );
  const { note: _, ...without } = parameters;
  t.equal(withParameters(text, 'yaml', 0, parameters, without), text.replace(/ {6}note[\s\S]*text\n/, ''));
  t.match(
    withParameters(text, 'yaml', 0, parameters, { ...parameters, note: 'short' }),
    /^ {6}note: short\n {2}- drop/m,
  );
  t.match(withParameters(text, 'yaml', 1, {}, { columns: 'a' }), /^ {2}- drop_blank_rows: \{columns: a\}\n/m);
  t.equal(
    withOperation('operations:\n  - *x\n  - {drop: {columns: a}}\n', 'yaml', 1, 'copy', { from: 'a', to: 'b' }),
    'operations:\n  - *x\n  - {copy: {from: a, to: b}}\n  - {drop: {columns: a}}\n',
  );
});

test('a needed text that may be empty need not be filled in', async (t) => {
  const form = operationForm(operationTable.get('replace')!);
  t.strictSame(missingProperties(form, {}), ['columns', 'find']);
  const values = { columns: 'a', find: 'x' };
  t.strictSame(missingProperties(form, values), []);
  t.strictSame(completed(form, values), { columns: 'a', find: 'x', replace: '' });
  t.equal(completed(form, { columns: 'a', pairs: { x: 'y' } })['replace'], undefined);
});

test('texts of all kinds stay texts', async (t) => {
  const texts = [
    '',
    ' ',
    'yes',
    'null',
    '007',
    '1e3',
    '~',
    "it's",
    'a: b',
    'a #b',
    '- x',
    '{a}',
    '\\d+ "x"',
    "'",
    '\n',
    '\t',
    'a\u0085b\u2028c',
    '\ufeff',
    '😀',
    '<<',
    '=',
    '*',
    '&a',
    '!t',
    '%',
    '@',
    '`a`',
    'Ä b',
    'a, b',
    '[',
    '0x1F',
    '.5',
    '\u007f\u0000',
    'on',
  ];
  const value = { ...Object.fromEntries(texts.map((text) => [text, text])), list: texts };
  t.strictSame({ ...(valueOfYaml(flowText(value, 'yaml')) as object) }, value);
  t.strictSame(JSON.parse(flowText(value, 'json')), value);
});
