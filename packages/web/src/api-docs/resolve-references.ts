/**
 * Swagger UI's resolver for OpenAPI 3.1 reads the whole document again for each operation that is opened, which takes seconds. The document
 * of this server refers only to itself.
 */
export async function resolveReferences(
  document: unknown,
  path: readonly string[],
): Promise<{ spec: unknown; errors: [] }> {
  const at = (steps: readonly string[]) => steps.reduce((value, step) => childOf(value, step), document)
  /** `within` holds the references that lead to the value: one that leads to itself stays. */
  const resolved = (value: unknown, within: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map(item => resolved(item, within))
    if (!isObject(value)) return value
    const { $ref, ...others } = value
    if (typeof $ref !== 'string' || !$ref.startsWith('#/')) {
      return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, resolved(child, within)]))
    }
    if (within.includes($ref)) return value
    const target = resolved(at(stepsOf($ref)), [...within, $ref])
    return isObject(target) ? { ...target, ...others, $$ref: $ref } : target
  }
  return { spec: resolved(at(path), []), errors: [] }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const childOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** The parts of a JSON pointer. */
const stepsOf = (reference: string): string[] =>
  reference
    .slice(2)
    .split('/')
    .map(step => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))
