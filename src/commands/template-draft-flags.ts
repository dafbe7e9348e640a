// The flags of `template draft`, apart from its code, which is loaded when it is called.

export const DRAFT_FLAGS = {
  like: {
    kind: 'value',
    placeholder: 'TARGET',
    purpose:
      'a Template, a CSV or a JSON Schema whose columns are wanted: columns that are surely the same get its names, others are offered (none)',
  },
} as const;
