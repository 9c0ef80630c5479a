import { routes } from '@halyard/contract'
import { returnTypeOf } from '@halyard/engine'
import type { Flag } from '../../domain/flag.ts'
import { requireCanEdit, requireNoViewer } from '../../features/access/grants.ts'
import { planFlagArchiving } from '../../features/flags/edits/archive-flag.ts'
import type { FlagWrites } from '../../features/flags/flag-writes.ts'
import { planFlagCreation, planFlagUpdate } from '../../features/flags/plan-flag.ts'
import type { ActorCache } from '../../features/identity/actor-cache.ts'
import { answer, type RouteRequest, type ServeRoute } from '../../http/routes/serve-route.ts'
import type { Instant } from '../../instant.ts'
import { invalid, missing, Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { hasAnyScope, type Project } from '../../tenancy.ts'
import type { SdkAccess } from '../sdk/sdk-access.ts'
import { credentialOf } from '../sdk/sdk-access.ts'
import { fitsType, flagFromManifest, manifestFlag } from './manifest.ts'

interface Deps {
  readonly access: SdkAccess
  readonly actors: ActorCache
  readonly writes: FlagWrites
  readonly now: () => Instant
}

type Manifest = typeof routes.manifest

const readable = { 'x-manifest-capabilities': 'read' } as const
const writable = { 'x-manifest-capabilities': 'read,write,delete' } as const

/** The flags for code generators: the API that the OpenFeature CLI pulls from and pushes to. */
export function serveManifest(serve: ServeRoute, { access, actors, writes, now }: Deps): void {
  const r = routes.manifest

  const read = async (headers: RouteRequest<Manifest['get']>['headers'], projectId: string) => {
    const key = credentialOf(headers)
    const served = await (projectId === '@current'
      ? access.toDefinitions(key, undefined)
      : access.toDefinitionsOf(key, projectId))
    const flags = [...served.live].sort((a, b) => (a.key < b.key ? -1 : 1)).map(manifestFlag)
    const isWriter = !key?.startsWith('phs_') && hasAnyScope((await actors.find(key ?? '')).key, ['feature_flag:write'])
    return answer<Manifest['get']>({ status: 200, body: { flags }, headers: isWriter ? writable : readable })
  }
  serve(r.get, ({ headers }) => read(headers, '@current'))
  serve(r.getOf, ({ headers, params }) => read(headers, params.project_id))

  const create = async (request: RouteRequest<Manifest['create' | 'createIn']>) => {
    const { actor, project, body } = request
    requireType(body.type, body.defaultValue)
    const plan = async (tx: Stores) => {
      await requireNoViewer(tx, actor, project)
      const taken = await tx.flags.findLiveByKey(project.id, body.key)
      if (taken) throw conflict(`The key is taken by ${taken.archived ? 'an archived' : 'another'} flag.`, 'key')
      const name = body.description ?? body.name ?? ''
      const patch = { ...flagFromManifest(body.type, body.defaultValue), key: body.key, name }
      return planFlagCreation(tx, actor, project, { patch }, now())
    }
    const flag = await writes.saveFlag(request, plan, created => created)
    return answer<Manifest['create']>({ status: 201, body: bodyOf(flag), headers: writable })
  }
  serve(r.create, create)
  serve(r.createIn, create)

  const update = async (request: RouteRequest<Manifest['update' | 'updateIn']>) => {
    const { actor, project, params } = request
    const plan = async (tx: Stores) => {
      const stored = await flagOf(tx, project, params.key)
      await requireCanEdit(tx, actor, project, stored)
      const { key, type, description, name, defaultValue } = request.body
      if (key !== params.key) throw invalid('key', 'invalid_input', '`key` differs from the key in the path.')
      if (stored.archived) throw conflict('The flag is archived. Unarchive it before you change it.', 'key')
      const present = returnTypeOf(stored.filters)
      if ((type === 'integer' ? 'number' : type) !== present) {
        throw conflict(`The type of a flag cannot be changed from ${present} to ${type}.`, 'type')
      }
      if (defaultValue !== undefined) requireType(type, defaultValue)
      const patch = {
        ...(description !== undefined || name !== undefined ? { name: description ?? name ?? '' } : {}),
        ...(defaultValue !== undefined && { filters: { ...stored.filters, default_value: defaultValue } }),
      }
      return planFlagUpdate(tx, actor, project, { stored, patch }, now())
    }
    const flag = await writes.saveFlag(request, plan, updated => updated)
    return answer<Manifest['update']>({ status: 200, body: bodyOf(flag), headers: writable })
  }
  serve(r.update, update)
  serve(r.updateIn, update)

  const remove = async (request: RouteRequest<Manifest['remove' | 'removeFrom']>) => {
    const { actor, project, params } = request
    const plan = async (tx: Stores) => {
      const stored = await flagOf(tx, project, params.key)
      await requireCanEdit(tx, actor, project, stored)
      if (stored.archived) throw conflict('The flag is archived already.', 'key')
      return planFlagArchiving(tx, actor, project, { stored, isForced: false, reason: '' }, now())
    }
    const flag = await writes
      .saveFlag(request, plan, archived => archived)
      .catch((error: unknown) => {
        if (error instanceof Problem && error.code === 'in_use') throw conflict(error.message, 'key')
        throw error
      })
    const message = `Flag "${flag.key}" archived. Unarchive it in the dashboard to use it again.`
    return answer<Manifest['remove']>({ status: 200, body: { message, archivedAt: flag.updatedAt }, headers: writable })
  }
  serve(r.remove, remove)
  serve(r.removeFrom, remove)
}

async function flagOf(tx: Stores, project: Project, key: string): Promise<Flag> {
  const flag = await tx.flags.findLiveByKey(project.id, key)
  if (!flag) throw missing('Flag')
  return flag
}

const bodyOf = (flag: Flag) => ({ flag: manifestFlag(flag), updatedAt: flag.updatedAt })

const conflict = (message: string, field: string) => new Problem('conflict', message, { field })

function requireType(type: string, value: unknown): void {
  if (fitsType(type, value)) return
  throw invalid('defaultValue', 'invalid_type', `\`defaultValue\` must be of the type ${type}.`)
}
