// Finds the endpoint for a path and a method. A separate table, so that unknown paths, wrong methods, HEAD and OPTIONS
// get correct responses. Knows nothing about the work of endpoints.
import type { MaybePromise } from '../collections/maybe-promise.ts';
import { refusal } from './error-codes.ts';
import type { Exchange } from './exchange.ts';

export type Method = 'GET' | 'POST';

/** Values of the path parameters by name. */
export type PathParameters = Readonly<Record<string, string>>;

export interface Route {
  /** Name in the interface, in the log and in metrics. */
  readonly name: string;
  readonly method: Method;
  /** For example /api/v1/runs/{run_id}. A parameter is one whole segment. */
  readonly path: string;
  /** Responds to the exchange, immediately or later. A throw or rejection is a fault of the service. */
  readonly handle: (exchange: Exchange, parameters: PathParameters) => MaybePromise<void>;
}

interface PathEntry {
  readonly path: string;
  readonly segments: readonly string[];
  readonly routes: Route[];
  /** Value of the Allow header. */
  allow: string;
}

/** Number of cached paths: most requests go to the same few Templates. */
const KNOWN_PATHS_MAX = 256;

/** Result for a path. */
interface KnownPath {
  readonly entry: PathEntry;
  readonly parameters: PathParameters;
}

export class Router {
  #paths: PathEntry[] = [];
  #known = new Map<string, KnownPath>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const { path } = route;
      let entry = this.#paths.find((known) => known.path === path);
      if (entry === undefined) {
        entry = { path, segments: path.split('/'), routes: [], allow: '' };
        this.#paths.push(entry);
      }
      entry.routes.push(route);
      entry.allow = allowedMethods(entry.routes);
    }
  }

  /** Passes the exchange to its route, or responds with 404, 405 or to OPTIONS itself. */
  dispatch(exchange: Exchange): void {
    const { method, path } = exchange.head;
    const found = this.#known.get(path) ?? this.#find(path);
    if (found === null) {
      exchange.refuse(refusal('NOT_FOUND', 'No endpoint has this path.'));
      return;
    }
    const { entry, parameters } = found;
    const { allow } = entry;
    if (method === 'OPTIONS') {
      exchange.empty(204, [['Allow', allow]]);
      return;
    }
    const wanted = method === 'HEAD' ? 'GET' : method;
    const route = entry.routes.find((candidate) => candidate.method === wanted);
    if (route === undefined) {
      const wrong = refusal('METHOD_NOT_ALLOWED', `This path supports only ${allow}.`);
      exchange.refuse({ ...wrong, headers: [['Allow', allow]] });
      return;
    }
    exchange.endpoint = route.name;
    run(route, exchange, parameters);
  }

  #find(path: string): KnownPath | null {
    const segments = path.split('/');
    const entry = this.#paths.find((candidate) => matches(candidate.segments, segments));
    if (entry === undefined) return null;
    const known = { entry, parameters: parametersOf(entry.segments, segments) };
    if (this.#known.size === KNOWN_PATHS_MAX) this.#known.clear();
    this.#known.set(path, known);
    return known;
  }
}

function run(route: Route, exchange: Exchange, parameters: PathParameters): void {
  try {
    route.handle(exchange, parameters)?.catch((fault: unknown) => exchange.fault(fault));
  } catch (fault) {
    exchange.fault(fault);
  }
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, index) => {
    const segment = segments[index] as string;
    return part.startsWith('{') ? segment !== '' : decoded(segment) === part;
  });
}

function parametersOf(pattern: readonly string[], segments: readonly string[]): PathParameters {
  const parameters: Record<string, string> = {};
  pattern.forEach((part, index) => {
    if (part.startsWith('{')) parameters[part.slice(1, -1)] = decoded(segments[index] as string);
  });
  return parameters;
}

/** Decodes a percent-encoded segment. An invalid segment stays unchanged and matches nothing. */
function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function allowedMethods(routes: readonly Route[]): string {
  const methods = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...methods, 'OPTIONS'].join(', ');
}
