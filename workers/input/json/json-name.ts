// The name of the format. In its own file, so that the table of formats does not load the reader.

export const JSON_FORMAT = 'json';
