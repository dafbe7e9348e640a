// The pages for people: the API reference and the console. They need no key: the reference has the content of the
// OpenAPI document, and the console contains nothing until a user enters a key. Only the columns of a Template need one.
import { readFileSync } from 'node:fs';
import { refusal } from '../http/error-codes.ts';
import type { Route } from '../http/router.ts';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import { NONCE_PLACE, Page, prefersHtml, type StartLink, startDocument, startPage } from '../pages/html-page.ts';
import { type ApiDocument, referencePage } from '../pages/reference/reference-page.ts';
import type { GuardedRoute } from './endpoint.ts';

/** `/`: HTML for browsers, JSON for programs. */
export function startRoute(links: readonly StartLink[]): Route {
  const page = new Page(startPage(links, NONCE_PLACE), { hasScript: false });
  const document = startDocument(links);
  return {
    name: 'start',
    method: 'GET',
    path: '/',
    handle: (exchange) => {
      exchange.addHeader('Vary', 'Accept');
      if (prefersHtml(exchange.header('accept'))) page.answer(exchange);
      else exchange.json(200, document);
    },
  };
}

/** @param openApiPath without the leading slash, because a balancer may serve the page below another path */
export function referenceRoute(document: object, openApiPath: string): Route {
  const page = new Page(referencePage(document as ApiDocument, NONCE_PLACE, openApiPath.slice(1)), {
    hasScript: false,
  });
  return {
    name: 'docs',
    method: 'GET',
    path: '/docs',
    handle: (exchange) => page.answer(exchange),
  };
}

/**
 * The files of the console, as built, read once.
 * @param hasDocs true if the console links to /docs
 */
export function consoleRoutes(hasDocs: boolean): Route[] {
  const read = (name: string): string => readFileSync(new URL(`dist/console/${name}`, PACKAGE_FOLDER), 'utf8');
  const html = new Page(read('index.html').replace('data-docs="yes"', hasDocs ? '$&' : ''), { hasScript: true });
  const file = (name: string, type: string): Route => {
    const content = Buffer.from(read(name));
    const handle: Route['handle'] = (exchange) => exchange.text(200, `${type}; charset=utf-8`, content);
    return { name: 'console', method: 'GET', path: `/console/${name}`, handle };
  };
  const page: Route = {
    name: 'console',
    method: 'GET',
    path: '/console',
    handle: (exchange) => html.answer(exchange),
  };
  return [page, file('page.js', 'text/javascript'), file('page.css', 'text/css')];
}

/** The columns that a Template reads, which the console shows before a file is sent. Not part of the API. */
export const templateColumns = {
  name: 'list_templates',
  routeName: 'console',
  method: 'GET',
  path: '/console/templates/{template_id}',
  scope: 'templates:read',
  handle: ({ exchange, access: { account }, parameters }) => {
    const template = account.templates.get(parameters['template_id']!);
    if (template === undefined) exchange.refuse(refusal('TEMPLATE_NOT_FOUND', 'There is no Template with this id.'));
    else exchange.json(200, { columns: template.columns ?? [] });
  },
} as const satisfies GuardedRoute<undefined>;
