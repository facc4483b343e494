package io.github.leafids.spring;

import io.github.leafids.LeafClient;
import io.github.leafids.LeafListener;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** Logs the events that operators need. A bean of the type {@link LeafListener} replaces it. */
class LeafLog implements LeafListener {
  private final Log log = LogFactory.getLog(LeafClient.class);

  @Override
  public void onLoadFailed(String tag, Throwable error) {
    log.warn("Failed to prefetch IDs of " + tag + "; retrying: " + error);
  }

  @Override
  public void onServerEjected(String url, Throwable error, long millis) {
    log.warn(url + " failed and gets no requests for " + millis + " ms: " + error);
  }

  @Override
  public void onServerReadmitted(String url) {
    log.info(url + " responds again.");
  }

  @Override
  public void onWindowAcquired(int workerId, long until) {
    log.info("Issues snowflake IDs as worker " + workerId + ".");
  }

  @Override
  public void onWindowLost(int workerId, Throwable error) {
    log.warn("Worker " + workerId + " is no longer held; acquiring another worker ID: " + error);
  }

  @Override
  public void onWindowFailed(Throwable error) {
    log.warn("A request for the worker ID failed: " + error);
  }
}
