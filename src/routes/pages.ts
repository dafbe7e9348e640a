// The pages for people: the API reference and the console. They need no key: the reference has the content of the
// OpenAPI document, and the console contains nothing until a user enters a key.
import { readFileSync } from 'node:fs';
import type { Route } from '../http/router.ts';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import { NONCE_PLACE, Page, prefersHtml, type StartLink, startDocument, startPage } from '../pages/html-page.ts';
import { type ApiDocument, referencePage } from '../pages/reference/reference-page.ts';

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

/** The files of the console, as built, read once. */
export function consoleRoutes(): Route[] {
  const read = (name: string): string => readFileSync(new URL(`dist/console/${name}`, PACKAGE_FOLDER), 'utf8');
  const html = new Page(read('index.html'), { hasScript: true });
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
