import { overriddenFlagsMax, overridesSecondsDefault, routes } from '@halyard/contract'
import type { Flag } from '../../../domain/flag.ts'
import {
  type FlagOverride,
  overrideProblem,
  readOverride,
  variantsOf,
} from '../../../evaluation/projects/flag-override.ts'
import type { OverrideSigner } from '../../../evaluation/projects/signed-overrides.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../../http/routes/serve-route.ts'
import { instantOf } from '../../../instant.ts'
import { forbidden, invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { canEditFlag } from '../../access/access.ts'
import { grantsFor } from '../../access/grants.ts'
import { appendFlagActivity } from '../record-flag.ts'

interface Deps extends RouteDeps {
  readonly overrideSigner: OverrideSigner
}

export function serveFlagOverrides(serve: ServeRoute, { database, overrideSigner, now }: Deps): void {
  serve(routes.flagOverrides.variants, async ({ actor, project, query }) => {
    const keys = readKeys(query.keys)
    const flags = await database.read(tx => overridableFlags(tx, actor, project, keys))
    return { results: flags.map(({ key, filters }) => ({ key, variants: [...variantsOf(filters)] })) }
  })

  serve(routes.flagOverrides.sign, async ({ actor, project, body }) => {
    const { expires_in_seconds: seconds = overridesSecondsDefault } = body
    const signedAt = now()
    const expiresAt = Math.floor(Date.parse(signedAt) / 1000 + seconds) * 1000
    const expires_at = instantOf(new Date(expiresAt))
    const overrides = await database.transaction(async tx => {
      const read = await readOverrides(tx, actor, project, body.overrides)
      for (const { flag, override } of read) {
        const trigger = { ...override, expires_at }
        const record = { activity: 'override_signed', changes: [], trigger }
        await appendFlagActivity(tx, actor, project, flag, record, signedAt)
      }
      return new Map(read.map(({ flag, override }) => [flag.key, override]))
    })
    return { token: overrideSigner.sign(project, { overrides, expiresAt }), expires_at }
  })
}

function readKeys(text = ''): readonly string[] {
  const keys = [...new Set(text.split(',').filter(Boolean))]
  if (keys.length === 0 || keys.length > overriddenFlagsMax)
    throw invalid('keys', 'invalid_input', `keys must have 1 to ${overriddenFlagsMax} flag keys, separated by commas.`)
  return keys
}

async function overridableFlags(tx: Stores, actor: Actor, project: Project, keys: readonly string[]) {
  const grants = await grantsFor(tx, actor, project)
  const flags: Flag[] = []
  for (const key of keys) {
    const flag = await tx.flags.findLiveByKey(project.id, key)
    if (flag && !flag.archived && canEditFlag(grants, flag)) flags.push(flag)
  }
  return flags
}

/** Raises `invalid` for a flag or value that does not exist, and `forbidden` for a flag that the caller cannot edit. */
async function readOverrides(tx: Stores, actor: Actor, project: Project, sent: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(sent)
  if (entries.length === 0 || entries.length > overriddenFlagsMax)
    throw invalid('overrides', 'invalid_input', `overrides must have 1 to ${overriddenFlagsMax} flags.`)
  const grants = await grantsFor(tx, actor, project)
  const overrides: { readonly flag: Flag; readonly override: FlagOverride }[] = []
  for (const [key, value] of entries) {
    const flag = await tx.flags.findLiveByKey(project.id, key)
    if (!flag || flag.archived) throw refused(`There is no flag "${key}" in this project.`)
    if (!canEditFlag(grants, flag)) throw forbidden(`You cannot edit the flag "${key}", and so not override it.`)
    const override = readOverride(value)
    if (!override) throw refused(`The value of "${key}" must be true, false, a variant or an object with "value".`)
    const problem = overrideProblem(flag, override)
    if (problem !== undefined) throw refused(problem)
    overrides.push({ flag, override })
  }
  return overrides
}

const refused = (message: string) => invalid('overrides', 'invalid_input', message)
