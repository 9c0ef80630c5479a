import { type ScimPatch, scimPatchSchema } from '@halyard/contract'
import { type ScimPatchOperation, type ScimResource, scimPatch } from 'scim-patch'
import { scimInvalid } from './scim-problem.ts'
import { checkAttributes, isAttributes, isUnsafeName, requireSchema, type ScimAttributes } from './scim-values.ts'

/** An operation with a checked `op` and `path`. */
export interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: string | undefined
  readonly value: unknown
}

const pathCharactersMax = 500
const operations = ['add', 'remove', 'replace'] as const

/** Raises `invalid`. Paths and keys that reach a prototype are refused before any library sees them. */
export function readOperations(patch: ScimPatch): readonly PatchOperation[] {
  requireSchema(patch, scimPatchSchema)
  if (patch.Operations.length === 0) throw scimInvalid('invalidSyntax', 'Operations', '`Operations` must not be empty.')
  return patch.Operations.map(readOperation)
}

function readOperation(operation: unknown): PatchOperation {
  if (!isAttributes(operation)) {
    throw scimInvalid('invalidSyntax', 'Operations', '`Operations` must be a list of objects.')
  }
  const { path, value } = operation
  const op = operations.find(each => each === String(operation.op).toLowerCase())
  if (op === undefined) throw scimInvalid('invalidSyntax', 'op', '`op` must be add, remove or replace.')
  if (path !== undefined && path !== null && typeof path !== 'string') {
    throw scimInvalid('invalidPath', 'path', '`path` must be a text.')
  }
  if (path && (path.length > pathCharactersMax || isUnsafeName(path) || path.includes('\0'))) {
    throw scimInvalid('invalidPath', 'path', '`path` names no attribute that can be changed.')
  }
  checkAttributes(value, path || 'value')
  if (!path && op === 'remove') throw scimInvalid('noTarget', 'path', '`path` is required to remove an attribute.')
  if (!path && !isAttributes(value)) {
    throw scimInvalid('invalidValue', 'value', '`value` must be an object, because there is no `path`.')
  }
  if (op !== 'remove' && value === undefined) throw scimInvalid('invalidValue', 'value', '`value` is required.')
  return { op, path: path || undefined, value }
}

/** The library takes the end of a schema's URN for an attribute, so the attributes of a schema are changed one by one. */
function byAttribute(operation: PatchOperation): readonly PatchOperation[] {
  const { op, path, value } = operation
  if (op === 'remove' || !isAttributes(value)) return [operation]
  if (path === undefined) {
    return Object.entries(value).flatMap(([name, part]) =>
      isSchema(name)
        ? byAttribute({ op, path: name, value: part })
        : [{ op, path: undefined, value: { [name]: part } }],
    )
  }
  if (!isSchema(path)) return [operation]
  return Object.entries(value).map(([name, part]) => ({ op, path: `${path}:${name}`, value: part }))
}

const isSchema = (name: string): boolean => /^urn:.*:(?:user|group)$/i.test(name)

const userOperationsMax = 100

/** The attributes after all operations. Raises `invalid`. */
export function patchUser(content: Record<string, unknown>, patch: readonly PatchOperation[]): ScimAttributes {
  if (patch.length > userOperationsMax) {
    throw scimInvalid('invalidSyntax', 'Operations', `\`Operations\` can have at most ${userOperationsMax} for a user.`)
  }
  try {
    const steps = patch.flatMap(byAttribute).map(({ op, path, value }) => ({ op, ...(path && { path }), value }))
    return scimPatch(content as unknown as ScimResource, steps as ScimPatchOperation[]) as unknown as ScimAttributes
  } catch (error) {
    const isTargetMissing = (error as { scimCode?: unknown }).scimCode === 'noTarget'
    throw isTargetMissing
      ? scimInvalid('noTarget', 'path', '`path` selects no value of the user.')
      : scimInvalid('invalidPath', 'path', '`path` and `value` do not fit the attributes of the user.')
  }
}
