import { scimGroupSchema, scimMembersMax } from '@halyard/contract'
import type { Instant } from '../../instant.ts'
import type { PatchOperation } from './patch-scim-user.ts'
import { parseFilter, withoutSchema } from './scim-filter.ts'
import { scimInvalid } from './scim-problem.ts'
import {
  checkAttributes,
  isAttributes,
  readList,
  readName,
  readRequiredName,
  type ScimAttributes,
  withCanonicalNames,
} from './scim-values.ts'

/** A group of the identity provider: a role of the organization. */
export interface ScimGroup {
  /** That of the role. */
  readonly id: string
  readonly name: string
  readonly externalId: string | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/** A provisioned user in the role, or one who gets it back when they are active again. */
export interface ScimGroupMember {
  readonly userId: number
  readonly uuid: string
  readonly userName: string
}

/** A group as the identity provider describes it; members by UUID. */
export interface ScimGroupContent {
  readonly name: string
  readonly externalId: string | null
  readonly members: ReadonlySet<string>
}

const names = ['displayName', 'externalId', 'members']
const nameCharactersMax = 200

/** Raises `invalid` and names the attribute. */
export function readScimGroup(body: ScimAttributes): ScimGroupContent {
  checkAttributes(body, '')
  const sent = withCanonicalNames(body, names)
  return { name: readGroupName(sent), externalId: readName(sent, 'externalId') ?? null, members: readMembers(sent) }
}

function readGroupName(attributes: ScimAttributes): string {
  const name = readRequiredName(attributes, 'displayName')
  if (name.length <= nameCharactersMax) return name
  throw scimInvalid('invalidValue', 'displayName', `\`displayName\` can have at most ${nameCharactersMax} characters.`)
}

const readMembers = (attributes: ScimAttributes): ReadonlySet<string> =>
  new Set(
    readList(attributes, 'members', scimMembersMax).map(member => {
      const id = isAttributes(member) ? member.value : member
      if (typeof id === 'string') return id.toLowerCase()
      throw scimInvalid('invalidValue', 'members', '`members` must have elements with `value`, the id of a user.')
    }),
  )

/**
 * The group after all operations. A group has three attributes, so sets serve: the library compares every member with every other one.
 * Raises `invalid`.
 */
export function patchGroup(content: ScimGroupContent, operations: readonly PatchOperation[]): ScimGroupContent {
  let next = content
  for (const { op, path, value } of operations) {
    if (path === undefined) {
      const sent = withCanonicalNames(value as ScimAttributes, names)
      for (const name of names) if (sent[name] !== undefined) next = changeAttribute(next, op, name, sent[name])
      continue
    }
    const target = withoutSchema(path)
    const selected = /^members\[(.*)\]$/i.exec(target)?.[1]
    const attribute = names.find(name => name.toLowerCase() === target.toLowerCase())
    if (selected !== undefined && op === 'remove') next = withoutMembers(next, [selectedMember(selected)])
    else if (attribute !== undefined) next = changeAttribute(next, op, attribute, value)
    else throw scimInvalid('invalidPath', 'path', '`path` must be displayName, externalId or members.')
  }
  if (next.members.size <= scimMembersMax) return next
  throw scimInvalid('invalidValue', 'members', `\`members\` can have at most ${scimMembersMax} elements.`)
}

function changeAttribute(
  content: ScimGroupContent,
  op: PatchOperation['op'],
  attribute: string,
  value: unknown,
): ScimGroupContent {
  const sent = { [attribute]: value }
  if (attribute === 'externalId')
    return { ...content, externalId: op === 'remove' ? null : (readName(sent, attribute) ?? null) }
  if (attribute === 'displayName') {
    if (op === 'remove') throw scimInvalid('mutability', 'displayName', '`displayName` cannot be removed.')
    return { ...content, name: readGroupName(sent) }
  }
  const isAll = value === undefined || value === null
  const members = isAll ? new Set<string>() : readMembers({ members: Array.isArray(value) ? value : [value] })
  if (op === 'replace' || (op === 'remove' && isAll)) return { ...content, members }
  if (op === 'remove') return withoutMembers(content, [...members])
  return { ...content, members: new Set([...content.members, ...members]) }
}

function withoutMembers(content: ScimGroupContent, ids: readonly string[]): ScimGroupContent {
  const members = new Set(content.members)
  for (const id of ids) members.delete(id)
  return { ...content, members }
}

function selectedMember(filter: string): string {
  const parsed = parseFilter(filter)
  if (parsed.op === 'eq' && parsed.attrPath.toLowerCase() === 'value' && typeof parsed.compValue === 'string') {
    return parsed.compValue.toLowerCase()
  }
  throw scimInvalid('invalidPath', 'path', '`path` selects members by id only: members[value eq "…"].')
}

/** Without members when these were not read. */
export const scimGroupToWire = (
  group: ScimGroup,
  members: readonly ScimGroupMember[] | undefined,
  root: string,
): Record<string, unknown> => ({
  schemas: [scimGroupSchema],
  id: group.id,
  displayName: group.name,
  ...(group.externalId !== null && { externalId: group.externalId }),
  ...(members && {
    members: members.map(({ uuid, userName }) => ({
      value: uuid,
      display: userName,
      type: 'User',
      $ref: `${root}/Users/${uuid}`,
    })),
  }),
  meta: {
    resourceType: 'Group',
    created: group.createdAt,
    lastModified: group.updatedAt,
    location: `${root}/Groups/${group.id}`,
  },
})
