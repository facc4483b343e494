// pm2 start ecosystem.config.cjs: see docs/operations/process-managers.md.
module.exports = {
  apps: [
    {
      name: 'leaf',
      script: '/opt/leaf/dist/apps/leaf-server/src/main.js',
      // The server reads `.env` here and keeps its state in `data` below.
      cwd: '/var/lib/leaf',
      // Not `cluster`: for several processes of one server, set LEAF_PROCESSES.
      exec_mode: 'fork',
      instances: 1,
      // The first process stops the others.
      treekill: false,
      kill_timeout: 60_000,
      exp_backoff_restart_delay: 100,
      env: { NODE_ENV: 'production', LEAF_LOG_FORMAT: 'json' },
    },
  ],
};
