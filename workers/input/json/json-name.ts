// The name of the format: its table knows it before what reads its files is loaded.

export const JSON_FORMAT = 'json';
