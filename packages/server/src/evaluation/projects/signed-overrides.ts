import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Project } from '../../tenancy.ts'
import { type FlagOverride, type FlagOverrides, readOverride } from './flag-override.ts'

/** Values of flags that someone with access has signed, for a limited time. */
export interface SignedOverrides {
  readonly overrides: FlagOverrides
  /** Unix time in milliseconds. */
  readonly expiresAt: number
}

export type OverridesProject = Pick<Project, 'uuid' | 'apiToken'>

/** `invalid` when the token was not signed for this project. The expiry is for the caller to check. */
export type ReadOverrides = (project: OverridesProject, token: string) => SignedOverrides | 'invalid'

export interface OverrideSigner {
  sign(project: OverridesProject, signed: SignedOverrides): string
  readonly read: ReadOverrides
}

const prefix = 'ho1'
const tokenPattern = /^ho1\.([\w-]{1,4000})\.([\w-]{43})$/

/**
 * Tokens are `ho1.<content>.<HMAC-SHA256>`. Each project has its own key, derived from the installation's: nodes need to store nothing,
 * and a new project token revokes all signatures.
 */
export function createOverrideSigner(secretKey: string): OverrideSigner {
  const signature = ({ uuid, apiToken }: OverridesProject, content: string): Buffer => {
    const key = createHmac('sha256', secretKey).update(`flag overrides ${uuid} ${apiToken}`).digest()
    return createHmac('sha256', key).update(content).digest()
  }
  return {
    sign(project, signed) {
      const content = writeContent(signed)
      return `${prefix}.${content}.${signature(project, content).toString('base64url')}`
    },
    read(project, token) {
      const [, content, encodedSignature] = tokenPattern.exec(token) ?? []
      if (content === undefined || encodedSignature === undefined) return 'invalid'
      const expected = signature(project, content)
      const sent = Buffer.from(encodedSignature, 'base64url')
      if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) return 'invalid'
      return readContent(content) ?? 'invalid'
    },
  }
}

const unsignedPattern = /^unsigned\.([\w-]{1,4000})$/

/** For `halyard dev`, where the only visitor is the developer. */
export const readUnsigned: ReadOverrides = (_project, token) => {
  const [, content] = unsignedPattern.exec(token) ?? []
  return (content === undefined ? undefined : readContent(content)) ?? 'invalid'
}

function writeContent({ overrides, expiresAt }: SignedOverrides): string {
  const o = Object.fromEntries([...overrides].map(([key, override]) => [key, shortest(override)]))
  return Buffer.from(JSON.stringify({ o, e: Math.floor(expiresAt / 1000) })).toString('base64url')
}

const shortest = (override: FlagOverride): unknown => ('payload' in override ? override : override.value)

function readContent(content: string): SignedOverrides | undefined {
  try {
    const { o, e } = JSON.parse(Buffer.from(content, 'base64url').toString()) as { o: object; e: unknown }
    const entries = Object.entries(o).map(([key, value]) => [key, readOverride(value)] as const)
    if (typeof e !== 'number' || entries.some(([, override]) => override === undefined)) return undefined
    return { overrides: new Map(entries as [string, FlagOverride][]), expiresAt: e * 1000 }
  } catch {
    return undefined
  }
}
