// One operation of the document: what it takes, and each answer with its codes, headers and examples.
import type { Media, Operation, Parameter, Response } from './api-document.ts';
import { type Child, element, type Html } from './html.ts';
import { prose } from './prose.ts';
import { column, meaningOf, schemaTable, typeOf } from './schema-view.ts';

export function operationView(method: string, path: string, operation: Operation): Html {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  return element(
    'section',
    { id: operationId, 'aria-labelledby': `${operationId}-name` },
    element('h2', { id: `${operationId}-name` }, summary),
    element('p', { class: 'request' }, element('strong', {}, method.toUpperCase()), ' ', element('code', {}, path)),
    description === undefined ? null : element('p', {}, description),
    parameters.length === 0 ? null : [element('h3', {}, 'Parameters'), parameterTable(parameters)],
    requestBody === undefined ? null : [element('h3', {}, 'Body'), bodyView(requestBody.content)],
    element('h3', {}, 'Answers'),
    Object.entries(responses).map(([status, response]) => responseView(status, response)),
  );
}

function parameterTable(parameters: readonly Parameter[]): Html {
  const rows = parameters.map(({ name, in: place, required, description, schema }) =>
    element(
      'tr',
      {},
      element(
        'th',
        { scope: 'row' },
        element('code', {}, name),
        element('small', {}, required ? `${place}, required` : place),
      ),
      element('td', {}, typeOf(schema)),
      element('td', {}, [description ?? '', meaningOf(schema)].join(' ').trim()),
    ),
  );
  return element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...['Name', 'Type', 'Meaning'].map((name) => column(name)))),
    element('tbody', {}, rows),
  );
}

function bodyView(content: Readonly<Record<string, Media>>): Child {
  return Object.entries(content).map(([type, { schema }]) => [
    element('p', {}, element('code', {}, type), ': ', typeOf(schema)),
    schemaTable(schema),
  ]);
}

function responseView(status: string, { description, headers = {}, content = {} }: Response): Html {
  const names = Object.keys(headers);
  const { lead, list } = prose(description);
  return element(
    'div',
    { class: 'answer' },
    element('h4', {}, element('code', {}, status), ' ', lead),
    list,
    names.length === 0 ? null : element('p', {}, 'Headers: ', names.map(headerLink)),
    Object.entries(content).map(([type, media]) => [
      element('p', {}, element('code', {}, type), ': ', typeOf(media.schema)),
      examplesOf(media).map(([name, value]) =>
        element(
          'details',
          {},
          element('summary', {}, name),
          element('pre', {}, element('code', {}, JSON.stringify(value, null, 2))),
        ),
      ),
    ]),
  );
}

function headerLink(name: string, index: number): Child {
  return [index === 0 ? '' : ', ', element('a', { href: `#header-${name}` }, name)];
}

function examplesOf({ example, examples = {} }: Media): readonly (readonly [name: string, value: unknown])[] {
  const named = Object.entries(examples).map(([name, { value }]) => [`Example: ${name}`, value] as const);
  return example === undefined ? named : [['Example', example], ...named];
}
