// The pages for people: the reference of the API and the console. They ask for no key: the reference says what the OpenAPI
// document says, the console holds nothing before somebody gives it a key.
import { readFileSync } from 'node:fs';
import type { Route } from '../http/router.ts';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import { answerPage, NONCE_PLACE } from '../pages/page-answer.ts';
import type { ApiDocument } from '../pages/reference/api-document.ts';
import { referencePage } from '../pages/reference/reference-page.ts';

/** @param openApiPath without its first slash: the page may stand behind a path of a balancer's */
export function referenceRoute(document: object, openApiPath: string): Route {
  const html = referencePage(document as ApiDocument, NONCE_PLACE, openApiPath.slice(1));
  return {
    name: 'docs',
    method: 'GET',
    path: '/docs',
    handle: (exchange) => answerPage(exchange, html, { hasScript: false }),
  };
}

/** The files of the console, as the build made them, read once. */
export function consoleRoutes(): Route[] {
  const read = (name: string): string => readFileSync(new URL(`dist/console/${name}`, PACKAGE_FOLDER), 'utf8');
  const html = read('index.html');
  const file = (name: string, type: string): Route => {
    const content = read(name);
    const handle: Route['handle'] = (exchange) => exchange.text(200, `${type}; charset=utf-8`, content);
    return { name: 'console', method: 'GET', path: `/console/${name}`, handle };
  };
  const page: Route = {
    name: 'console',
    method: 'GET',
    path: '/console',
    handle: (exchange) => answerPage(exchange, html, { hasScript: true }),
  };
  return [page, file('page.js', 'text/javascript'), file('page.css', 'text/css')];
}
