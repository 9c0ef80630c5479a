import { Box, Center, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { Logo } from '../ui/logo.tsx'

/** The layout of the pages before sign-in. */
export function AuthLayout({ children }: { children: ReactNode }) {
  return (
    <Center mih="100dvh" p="md" component="main" id="content">
      <Box w="100%" maw={380}>
        <Group justify="center" mb="md">
          <Logo size={40} />
        </Group>
        {children}
      </Box>
    </Center>
  )
}
