// The reference of the API for people: the OpenAPI document as one page of plain HTML. It has no script and asks for nothing
// else.
import type { ApiDocument } from './api-document.ts';
import { element, type Html, textOf } from './html.ts';
import { operationView } from './operation-view.ts';
import { REFERENCE_STYLE } from './reference-style.ts';
import { meaningOf, schemaTable, typeOf } from './schema-view.ts';

/** @param nonce stands in the page where that of each answer is put. @param openApiPath where the document itself is */
export function referencePage(document: ApiDocument, nonce: string, openApiPath: string): string {
  const { info, paths, components } = document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const page = element(
    'html',
    { lang: 'en' },
    element(
      'head',
      {},
      element('meta', { charset: 'utf-8' }),
      element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      element('meta', { name: 'color-scheme', content: 'light dark' }),
      element('title', {}, `${info.title}: reference`),
      element('style', { nonce }, REFERENCE_STYLE),
    ),
    element(
      'body',
      {},
      element('a', { class: 'skip', href: '#reference' }, 'To the reference'),
      element(
        'nav',
        { 'aria-label': 'Contents' },
        element('h2', {}, 'Operations'),
        links(operations.map(({ operation: { operationId, summary } }) => [operationId, summary])),
        element('h2', {}, 'Schemas'),
        links(Object.keys(components.schemas).map((name) => [`schema-${name}`, name])),
        element('h2', {}, 'Headers'),
        links([['headers', 'Headers of answers']]),
      ),
      element(
        'main',
        { id: 'reference', tabindex: '-1' },
        element('h1', {}, info.title),
        element('p', {}, info.description),
        element('p', {}, 'Send the key with each request as ', element('code', {}, 'Authorization: Bearer KEY'), '.'),
        element('p', {}, 'For programs: ', element('a', { href: openApiPath }, 'the OpenAPI document'), '.'),
        operations.map(({ path, method, operation }) => operationView(method, path, operation)),
        Object.entries(components.schemas).map(([name, schema]) =>
          element(
            'section',
            { id: `schema-${name}`, 'aria-labelledby': `schema-${name}-name` },
            element('h2', { id: `schema-${name}-name` }, name),
            element('p', {}, meaningOf(schema)),
            schemaTable(schema) ?? element('p', {}, typeOf(schema)),
          ),
        ),
        headersView(components.headers),
      ),
    ),
  );
  return `<!doctype html>\n${textOf(page)}\n`;
}

function links(targets: readonly (readonly [id: string, text: string])[]): Html {
  return element(
    'ul',
    {},
    targets.map(([id, text]) => element('li', {}, element('a', { href: `#${id}` }, text))),
  );
}

function headersView(headers: ApiDocument['components']['headers']): Html {
  return element(
    'section',
    { id: 'headers', 'aria-labelledby': 'headers-name' },
    element('h2', { id: 'headers-name' }, 'Headers of answers'),
    element(
      'dl',
      {},
      Object.entries(headers).map(([name, { description }]) => [
        element('dt', { id: `header-${name}` }, element('code', {}, name)),
        element('dd', {}, description),
      ]),
    ),
  );
}
