// Values of which a test needs only some parts.

/** Each part is of the type that it has there; what is not given must not be asked for. */
export function partly<T>(parts: Partial<T>): T {
  return parts as T;
}
