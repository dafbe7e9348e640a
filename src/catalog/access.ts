// The operations of the interface, and the scope that each asks of a key (interface 5).

export const OPERATION_NAMES = ['list_templates', 'create_run', 'get_run', 'get_run_output'] as const;
export type OperationName = (typeof OPERATION_NAMES)[number];

export const SCOPES = ['templates:read', 'runs:write', 'runs:read'] as const;
export type Scope = (typeof SCOPES)[number];

export const OPERATION_SCOPES: Readonly<Record<OperationName, Scope>> = {
  list_templates: 'templates:read',
  create_run: 'runs:write',
  get_run: 'runs:read',
  get_run_output: 'runs:read',
};
