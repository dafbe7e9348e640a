// One request that has been answered, as it is logged and counted. Nothing here is a client's own word.

/** What the log line and the metrics of one request are made of. */
export interface FinishedExchange {
  readonly requestId: string;
  readonly method: string;
  /** Name of the endpoint, '' for an unknown path. */
  readonly endpoint: string;
  /** Of the key that was sent, also of one that may not; null: no key of the catalog was. */
  readonly account: string | null;
  /** Name of that key in the catalog. */
  readonly keyId: string | null;
  /** null: the request is about none that the account has. */
  readonly templateId: string | null;
  readonly runId: string | null;
  /** 0: the client was gone before it could be answered. */
  readonly status: number;
  /** Error code of the answer. */
  readonly code: string | null;
  readonly milliseconds: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
}
