// What keys and plans may name: the scopes that a key can have, and the endpoints whose rate a plan can limit. Which scope
// an endpoint asks for is in its record (src/routes).

export const ENDPOINT_NAMES = [
  'list_templates',
  'create_run',
  'get_run',
  'get_run_output',
  'get_run_rejects',
  'get_usage',
] as const;
export type EndpointName = (typeof ENDPOINT_NAMES)[number];

export const KEY_SCOPES = ['templates:read', 'runs:write', 'runs:read'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
