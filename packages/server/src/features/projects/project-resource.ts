import type { ProjectBasic, ProjectSecretKey, Project as ProjectWire } from '@halyard/contract'
import type { Actor, Project } from '../../tenancy.ts'
import { maskSecret } from '../identity/secret.ts'
import type { SecretKey } from './project.ts'

export const projectBasicToWire = (project: Project): ProjectBasic => ({
  id: project.id,
  uuid: project.uuid,
  organization: project.organizationId,
  api_token: project.apiToken,
  name: project.name,
  timezone: project.timezone,
})

export const projectToWire = (project: Project, actor: Actor): ProjectWire => ({
  ...projectBasicToWire(project),
  created_at: project.createdAt,
  updated_at: project.updatedAt,
  property_matching_version: project.propertyMatchingVersion,
  group_types: project.groupTypes as Record<string, string>,
  effective_membership_level: actor.levels.get(project.organizationId) ?? 0,
  ...(project.previousToken &&
    Date.parse(project.previousToken.expiresAt) > Date.now() && {
      previous_token: {
        mask_value: maskSecret(project.previousToken.token),
        expires_at: project.previousToken.expiresAt,
      },
    }),
})

export const secretKeyToWire = (key: SecretKey, value?: string): ProjectSecretKey => ({
  id: key.id,
  label: key.label,
  mask_value: key.mask,
  created_at: key.createdAt,
  ...(value !== undefined && { value }),
})
