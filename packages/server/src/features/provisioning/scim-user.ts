import { scimEnterpriseSchema, scimRoles, scimUserBytesMax, scimUserSchema } from '@halyard/contract'
import type { Instant } from '../../instant.ts'
import { adminLevel, auditorLevel, type Level, memberLevel, type User, viewOnlyLevel } from '../../tenancy.ts'
import { checkedEmail } from '../identity/email.ts'
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

/** A user as the identity provider describes it. */
export interface ScimUserContent {
  readonly userName: string
  readonly externalId: string | null
  readonly isActive: boolean
  readonly email: string
  /** Empty when the provider sends none. */
  readonly name: string
  /** Null when the provider sends no `roles`: the level is then changed by hand. */
  readonly level: Level | null
  /** All other attributes, which are stored and returned. */
  readonly attributes: ScimAttributes
}

/** A provisioned user of an organization. Whether it is active follows from its membership. */
export interface ScimUser {
  readonly organizationId: string
  readonly user: User
  readonly userName: string
  readonly externalId: string | null
  readonly attributes: ScimAttributes
  /** Null when the user is no member: not active. */
  readonly level: Level | null
  /** From before the user was deactivated. */
  readonly levelBefore: Level | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

const names = ['schemas', 'userName', 'externalId', 'displayName', 'name', 'emails', 'active', 'roles', 'password']
const listItemsMax = 50

const levelOfRole: Readonly<Record<(typeof scimRoles)[number], Level>> = {
  auditor: auditorLevel,
  view_only: viewOnlyLevel,
  member: memberLevel,
  admin: adminLevel,
}

/** Raises `invalid` and names the attribute. A password is never stored. */
export function readScimUser(body: ScimAttributes): ScimUserContent {
  checkAttributes(body, '')
  const sent = withCanonicalNames(body, names)
  const { schemas: _schemas, id: _id, meta: _meta, groups: _groups, password: _password, ...rest } = sent
  const { userName: _name, externalId: _externalId, active: _active, ...attributes } = rest
  if (JSON.stringify(attributes).length > scimUserBytesMax) {
    throw scimInvalid('invalidValue', null, `A user can have at most ${scimUserBytesMax} characters of attributes.`)
  }
  const userName = readRequiredName(rest, 'userName')
  return {
    userName,
    externalId: readName(rest, 'externalId') ?? null,
    isActive: readActive(rest.active),
    email: readEmail(rest, userName),
    name: readDisplayName(rest),
    level: readLevel(rest),
    attributes,
  }
}

/** Entra ID sends texts such as "False". */
function readActive(value: unknown): boolean {
  if (value === undefined || value === null) return true
  const text = String(value).toLowerCase()
  if ((typeof value === 'boolean' || typeof value === 'string') && (text === 'true' || text === 'false')) {
    return text === 'true'
  }
  throw scimInvalid('invalidValue', 'active', '`active` must be true or false.')
}

function readEmail(attributes: ScimAttributes, userName: string): string {
  const emails = readList(attributes, 'emails', listItemsMax).map(item => {
    const email = typeof item === 'string' ? { value: item } : item
    if (!isAttributes(email) || (email.value !== undefined && typeof email.value !== 'string')) {
      throw scimInvalid('invalidValue', 'emails', '`emails` must have elements with `value`.')
    }
    return email
  })
  const usable = emails.filter(({ value }) => typeof value === 'string' && value !== '')
  const isPrimary = ({ primary }: ScimAttributes) => String(primary).toLowerCase() === 'true'
  const chosen = usable.find(isPrimary) ?? usable.find(({ type }) => type === 'work') ?? usable[0]
  const attribute = chosen ? 'emails' : 'userName'
  const email = checkedEmail(String(chosen?.value ?? userName), attribute).toLowerCase()
  // Accounts without a person have such addresses.
  if (email.endsWith('.invalid'))
    throw scimInvalid('invalidValue', attribute, `\`${attribute}\` is a reserved address.`)
  return email
}

function readDisplayName(attributes: ScimAttributes): string {
  const { name = {} } = attributes
  if (name !== null && !isAttributes(name)) throw scimInvalid('invalidValue', 'name', '`name` must be an object.')
  const parts = name ?? {}
  const [formatted, givenName, familyName] = ['formatted', 'givenName', 'familyName'].map(part => readName(parts, part))
  const whole = [givenName, familyName].filter(part => part !== undefined).join(' ')
  return (readName(attributes, 'displayName') ?? formatted ?? whole).slice(0, firstNameCharactersMax)
}
const firstNameCharactersMax = 150

/** The highest of the roles. The owner is appointed by hand. */
function readLevel(attributes: ScimAttributes): Level | null {
  const roles = readList(attributes, 'roles', listItemsMax).map(item => {
    const role = String(isAttributes(item) ? item.value : item).toLowerCase()
    if (!Object.hasOwn(levelOfRole, role)) {
      throw scimInvalid('invalidValue', 'roles', `\`roles\` must have values of: ${scimRoles.join(', ')}.`)
    }
    return levelOfRole[role as keyof typeof levelOfRole]
  })
  return roles.length === 0 ? null : (Math.max(...roles) as Level)
}

/** What a patch is applied to. */
export const contentOf = ({ userName, externalId, attributes, level }: ScimUser): Record<string, unknown> => ({
  ...structuredClone(attributes),
  userName,
  ...(externalId !== null && { externalId }),
  active: level !== null,
})

export function scimUserToWire(user: ScimUser, root: string): Record<string, unknown> {
  const isExtended = scimEnterpriseSchema in user.attributes
  return {
    schemas: [scimUserSchema, ...(isExtended ? [scimEnterpriseSchema] : [])],
    id: user.user.uuid,
    ...contentOf(user),
    meta: {
      resourceType: 'User',
      created: user.createdAt,
      lastModified: user.updatedAt,
      location: `${root}/Users/${user.user.uuid}`,
    },
  }
}
