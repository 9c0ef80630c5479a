import { type FlagDetails as DetailsWire, routes } from '@halyard/contract'
import { authorOf, diffFields } from '../../../domain/activity.ts'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../../http/routes/serve-route.ts'
import { parseInstant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { requireCanEdit } from '../../access/grants.ts'
import { userToWire } from '../../identity/user-resource.ts'
import { getFlag } from '../flag-routes.ts'
import { type FlagDetails, noDetails } from './flag-details.ts'

/** Serves what is stored about flags beside their definitions. */
export function serveFlagDetails(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.flagDetails

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
