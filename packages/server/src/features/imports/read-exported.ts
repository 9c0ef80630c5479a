import type { ExportedProject } from '@halyard/migrate/exporters/exported'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { readSchemas } from './current-state.ts'

/** The flags that are neither deleted nor archived, and all cohorts. */
export async function readExported(tx: Stores, project: Project): Promise<ExportedProject> {
  const flags = (await tx.flags.listLive(project.id)).filter(({ archived }) => !archived)
  const cohorts = await tx.cohorts.listDefinitions(project.id)
  const schemas = await readSchemas(tx, project.id, flags.length)
  return {
    flags: flags.map(flag => ({
      ...(schemas.has(flag.id) && { payloadSchema: schemas.get(flag.id)! }),
      id: flag.id,
      key: flag.key,
      name: flag.name,
      active: flag.active,
      // Checked when it was saved.
      filters: flag.filters as unknown as ExportedProject['flags'][number]['filters'],
      tags: flag.tags,
      ensureExperienceContinuity: flag.ensureExperienceContinuity,
      bucketingIdentifier: flag.bucketingIdentifier,
    })),
    cohorts: cohorts.map(({ id, name = '', isStatic, filters }) => ({
      id,
      name,
      isStatic,
      filters: filters as ExportedProject['cohorts'][number]['filters'],
    })),
    groupTypes: project.groupTypes,
  }
}
