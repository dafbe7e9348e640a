// What an endpoint is: one record, from which its route, the check of who may use it and its part of the OpenAPI document
// are made. The records stand beside their handlers; index.ts is the table.
import type { Authenticated } from '../admission/authenticate.ts';
import type { EndpointName } from '../catalog/access.ts';
import type { MaybePromise } from '../collections/maybe-promise.ts';
import type { Exchange } from '../http/exchange.ts';
import type { EndpointDescription } from '../http/openapi.ts';
import type { Method, PathParameters } from '../http/router.ts';
import type { CheckedTemplate } from '../outputs/output-name.ts';
import type { NodeState } from '../runs/node-state.ts';
import type { RateLimiter } from '../stores/rate-limiter.ts';
import type { AccessRule } from './access.ts';

/** One request that has passed the checks 2 and 3, and 4 unless its handler counts its rate. */
export interface Granted {
  readonly node: NodeState;
  readonly exchange: Exchange;
  readonly access: Authenticated<CheckedTemplate>;
  readonly rates: RateLimiter;
  /** Of the endpoint. */
  readonly name: EndpointName;
  readonly parameters: PathParameters;
}

/** An endpoint of the API that asks for a key. */
export interface Endpoint extends AccessRule {
  readonly method: Method;
  /** Such as /api/v1/runs/{run_id}: a parameter is one whole segment. */
  readonly path: string;
  readonly openApi: EndpointDescription;
  /** Its handler counts the request's rate, in a step of the stores that it needs anyway. */
  readonly countsRate?: true;
  /** Answers the exchange, now or later. A throw or a rejection is a fault of ours. */
  readonly handle: (granted: Granted) => MaybePromise<void>;
}
