// Parameters that provoke quadratic time: a long text to find, types, and a pattern.

export const LONG_FIND = `${'a'.repeat(500)}b${'a'.repeat(500)}`;
export const TYPES = ['integer', 'decimal', 'number', 'boolean', 'date', 'datetime', 'json'];
export const PATTERN = '(?:a|ab)(\\.|@|x?9)*\\b';
