import {
  type FlagComment as CommentWire,
  type FlagDetails as DetailsWire,
  healthChecks,
  routes,
} from '@halyard/contract'
import { authorOf, diffFields } from '../../../domain/activity.ts'
import type { ServedProject } from '../../../evaluation/projects/served-project.ts'
import type { Snapshots } from '../../../evaluation/snapshots.ts'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { type Instant, parseInstant } from '../../../instant.ts'
import { forbidden, invalid, missing } from '../../../problem.ts'
import type { Database, Stores } from '../../../stores.ts'
import { adminLevel, levelInProject, type Project } from '../../../tenancy.ts'
import { canEditFlag } from '../../access/access.ts'
import { grantsFor, requireCanEdit } from '../../access/grants.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import { getCohort } from '../../cohorts/plan-cohort.ts'
import { userToWire } from '../../identity/user-resource.ts'
import { placeOf } from '../../projects/create-project.ts'
import { getFlag } from '../flag-routes.ts'
import { type FlagComment, type FlagDetails, noDetails } from './flag-details.ts'
import { constantValue, failedChecks } from './flag-health.ts'
import { cohortUsedBy, flagUsedBy } from './used-by.ts'

interface Deps {
  readonly database: Database
  readonly snapshots: Snapshots
  readonly now: () => Instant
}

const commentsPerFlagMax = 1000
/** A project has at most this many flags, and so details. */
const everything = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }

/** Serves what is stored about flags beside their definitions, and which of them need attention. */
export function serveFlagDetails(serve: ServeRoute, { database, snapshots, now }: Deps): void {
  const r = routes.flagDetails

  const servedProject = async (project: Project): Promise<ServedProject> => {
    const served = await snapshots.forProject(project.id)
    if (!served) throw missing('Project')
    return served
  }

  serve(r.health, async ({ actor, project, query, url }) => {
    const check = healthChecks.find(name => name === query.check)
    if (query.check && !check) {
      throw invalid('check', 'invalid_choice', `check must be one of ${healthChecks.join(', ')}.`)
    }
    const search = query.search?.toLowerCase() ?? ''
    const served = await servedProject(project)
    const { details, lastCalled, grants } = await database.read(async tx => ({
      grants: await grantsFor(tx, actor, project),
      details: new Map((await tx.flagDetails.list(project.id, everything)).items.map(each => [each.flagId, each])),
      lastCalled: await tx.usage.lastUsed(project.id, 'called'),
    }))
    const { snapshot } = served
    const summary = Object.fromEntries(healthChecks.map(name => [name, 0])) as Record<string, number>
    const examined = snapshot.flags.flatMap(({ id }, position) => {
      const flag = served.flags.get(id)
      const reachable = snapshot.reachable[position]
      if (!flag || !reachable) return []
      const lastCalledAt = lastCalled.get(flag.key) ?? null
      const facts = { flag, lastCalledAt, reachable, details: details.get(id) }
      const checks = failedChecks(facts, now())
      for (const name of checks) summary[name] = (summary[name] ?? 0) + 1
      return [{ ...facts, checks }]
    })
    const isWanted = ({ flag, checks }: (typeof examined)[number]) =>
      query.flag_id === undefined
        ? (check ? checks.includes(check) : checks.length > 0) &&
          (flag.key.toLowerCase().includes(search) || flag.name.toLowerCase().includes(search))
        : String(flag.id) === query.flag_id
    const wanted = examined
      .filter(isWanted)
      .sort((a, b) => b.checks.length - a.checks.length || (a.flag.key < b.flag.key ? -1 : 1))
    const window = readWindow(query)
    const items = wanted.slice(window.offset, window.offset + window.limit)
    const page = pageBody({ count: wanted.length, items }, window, url, entry => ({
      id: entry.flag.id,
      key: entry.flag.key,
      name: entry.flag.name,
      active: entry.flag.active,
      created_at: entry.flag.createdAt,
      updated_at: entry.flag.updatedAt,
      last_called_at: entry.lastCalledAt,
      checks: entry.checks,
      constant_value: constantValue(entry),
      owner: entry.details?.owner ? userToWire(entry.details.owner) : null,
      expected_end: entry.details?.expectedEnd ?? null,
      can_edit: canEditFlag(grants, entry.flag),
    }))
    return { ...page, summary }
  })

  serve(r.listDetails, ({ project, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      return pageBody(await tx.flagDetails.list(project.id, window), window, url, detailsToWire)
    }),
  )

  serve(r.getDetails, ({ project, params }) =>
    database.read(async tx => {
      const flag = await getFlag(tx, project, params.id)
      return detailsToWire(await detailsOf(tx, project, flag.id))
    }),
  )

  serve(r.updateDetails, async request => {
    const { actor, project, params } = request
    return database.transaction(async tx => {
      const flag = await getFlag(tx, project, params.id)
      await requireCanEdit(tx, actor, project, flag)
      const { owner, expected_end, links } = request.body
      if (expected_end && !isDay(expected_end)) {
        throw invalid('expected_end', 'invalid_input', 'expected_end must be a date such as 2026-12-31.')
      }
      if (links?.some(({ url }) => !isWebAddress(url))) {
        throw invalid('links', 'invalid_input', 'The url of a link must be an http or https URL.')
      }
      const member = owner ? await tx.organizations.findMember(project.organizationId, owner) : undefined
      if (owner && !member) {
        throw invalid('owner', 'does_not_exist', 'owner must be the UUID of a member of this organization.')
      }
      const before = await detailsOf(tx, project, flag.id)
      const ownerId = owner === undefined ? undefined : (member?.user.id ?? null)
      await tx.flagDetails.save(project.id, flag.id, {
        ownerId,
        expectedEnd: expected_end || (expected_end === undefined ? undefined : null),
        links,
      })
      const after = await detailsOf(tx, project, flag.id)
      const changes = diffFields(shownFields(before), shownFields(after))
      if (changes.length > 0) {
        await tx.activity.append({
          organizationId: project.organizationId,
          projectId: project.id,
          scope: 'FeatureFlag',
          itemId: String(flag.id),
          activity: 'updated',
          ...authorOf(actor),
          detail: { name: flag.key, changes, trigger: null },
          createdAt: now(),
        })
      }
      return detailsToWire(after)
    })
  })

  serve(r.listComments, ({ project, params, query, url }) =>
    database.read(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const window = readWindow(query)
      return pageBody(await tx.flagDetails.listComments(project.id, flag.id, window), window, url, commentToWire)
    }),
  )

  serve(r.createComment, async request => {
    const { actor, project, params } = request
    return database.transaction(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const text = request.body.text.trim()
      if (text === '') throw invalid('text', 'blank', 'text must not be blank.')
      const { count } = await tx.flagDetails.listComments(project.id, flag.id, { limit: 1, offset: 0 })
      if (count >= commentsPerFlagMax) {
        throw invalid('text', 'limit_reached', `A flag can have at most ${commentsPerFlagMax} comments.`)
      }
      const comment = { flagId: flag.id, text, createdBy: actor.user, createdAt: now() }
      const added = await tx.flagDetails.addComment(project.id, comment)
      const record = {
        scope: 'Comment',
        itemId: added.id,
        name: flag.key,
        activity: 'created',
        after: { text },
      } as const
      recordAudit(tx, actor, placeOf(project), record, now())
      return commentToWire(added)
    })
  })

  serve(r.deleteComment, async ({ actor, project, params }) => {
    await database.transaction(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const comment = await tx.flagDetails.findComment(project.id, flag.id, Number(params.comment_id))
      if (!comment) throw missing('Comment')
      const isAdmin = (levelInProject(actor, project) ?? 0) >= adminLevel
      if (comment.createdBy.id !== actor.user.id && !isAdmin) {
        throw forbidden('Only its author or an admin can delete a comment.')
      }
      await tx.flagDetails.removeComment(comment.id)
      const before = { text: comment.text }
      const record = { scope: 'Comment', itemId: comment.id, name: flag.key, activity: 'deleted', before } as const
      recordAudit(tx, actor, placeOf(project), record, now())
    })
    return answer({ status: 204 })
  })

  serve(r.flagUsedBy, async ({ actor, project, params }) => {
    const served = await servedProject(project)
    return database.read(async tx => flagUsedBy(tx, actor, project, await getFlag(tx, project, params.id), served))
  })

  serve(r.cohortUsedBy, async ({ project, params }) => {
    const cohort = await database.read(tx => getCohort(tx, project, Number(params.id)))
    return cohortUsedBy(await servedProject(project), cohort.id)
  })
}

const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && parseInstant(text) !== undefined

/** Anything else, such as a script, must not become a link. */
const isWebAddress = (text: string): boolean => /^https?:\/\/\S+$/i.test(text) && URL.canParse(text)

const detailsOf = async (tx: Stores, project: Project, flagId: number): Promise<FlagDetails> =>
  (await tx.flagDetails.find(project.id, flagId)) ?? noDetails(flagId)

/** As the history shows them. */
const shownFields = ({ owner, expectedEnd, links }: FlagDetails) => ({
  owner: owner?.email ?? null,
  expected_end: expectedEnd,
  links,
})

const detailsToWire = (details: FlagDetails): DetailsWire => ({
  flag_id: details.flagId,
  owner: details.owner && userToWire(details.owner),
  expected_end: details.expectedEnd,
  links: [...details.links],
  comment_count: details.commentCount,
})

const commentToWire = ({ id, text, createdBy, createdAt }: FlagComment): CommentWire => ({
  id,
  text,
  created_by: userToWire(createdBy),
  created_at: createdAt,
})
